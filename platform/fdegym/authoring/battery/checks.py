"""The battery as checks of admission: each entry one, on the original task."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from fdegym.authoring.admission.findings import Check, Finding, HostTooBusy
from fdegym.authoring.battery.entries import FOLDER, Entry, entries
from fdegym.authoring.battery.playing import SCORE_MOST, play_battery
from scenarios.kit.load import ORIGINAL, Scenario, content_hash

BUSY = "no grade on a host this busy; admit again when it is quieter"
SECONDS, SLOW_SECONDS = 20.0, 60.0


@functools.cache
def _entries_hash() -> str:
    return content_hash(FOLDER)


def _check_of(entry: Entry) -> Check:
    name = f"battery {entry.name}"

    def withstand(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
        for task in tasks:
            played = play_battery(scenario.id, entry, task_id=task)
            figures = {"score": None if played.score is None else float(played.score), "refused": played.refused}
            if played.busy:
                raise HostTooBusy(BUSY)
            yield Finding(name, task, not played.problems, figures, "; ".join(played.problems))

    return Check(
        name,
        f"S at most {SCORE_MOST}, nothing learnt and nothing left behind: {entry.why}",
        withstand,
        tasks=(ORIGINAL,),
        decided_by=lambda scenario: _entries_hash(),
        seconds=SLOW_SECONDS if entry.slow else SECONDS,
    )


def battery_checks() -> tuple[Check, ...]:
    return tuple(_check_of(entry) for entry in entries())
