"""From everything that an admission found to what anybody may read of it: counts over all tasks, without a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

from fdegym.authoring.admission.conditions import (
    BYPASS_MOST,
    LITERAL_MOST,
    REFERENCE_LEAST,
    SHORTCUT_MOST,
    Played,
    ablations_of,
    unmet,
)
from fdegym.authoring.admission.findings import Finding
from fdegym.authoring.admission.registry import all_checks
from grading.evidence import Bound, Evidence, Held
from scenarios.kit.solutions import solution_names

BATTERY = "battery "  #: how the checks of the common battery begin
#: Not told as checks: the matcher's figures and the number of strategies have places of their own.
_TOLD_APART = ("matcher", "strategies")
_ANCHORS = {
    "reference": f"The reference delivery reaches {REFERENCE_LEAST}, the cost of its messages included",
    "do_nothing": "Doing nothing scores 0 exactly",
    "literal": (
        f"The request taken literally stays at or below {LITERAL_MOST}; where the sponsor is right, it reaches "
        f"{REFERENCE_LEAST}"
    ),
    "shortcut": f"No shortcut that skips what is tested exceeds {SHORTCUT_MOST}",
    "bypass": f"No attempt to cheat the grader exceeds {BYPASS_MOST}",
}
_STRATEGIES = {"shortcut": "shortcuts", "bypass": "attempts to cheat", "ablation": "references without one rule"}


def evidence_of(played: Played, findings: Sequence[Finding], on: date) -> Evidence:
    """What was found on all tasks together; ``on`` is the day of the admission."""
    kinds = Counter(solution_names(played.scenario).values())
    matcher = next((one.figures for one in findings if one.check == "matcher"), {})
    return Evidence(
        admitted_on=on,
        tasks=len(played.tasks),
        anchors=tuple(_anchors(played)),
        strategies={words: kinds[kind] for kind, words in _STRATEGIES.items()},
        checks=tuple(_checks(findings)),
        matcher=tuple(
            Bound(what, row["value"], row["of"], row.get("least"), row.get("most")) for what, row in matcher.items()
        ),
    )


def _anchors(played: Played) -> Iterator[Held]:
    for kind, words in _ANCHORS.items():
        holds = sum(
            not any(unmet(played, task, name, one) for name, one in anchors.solutions.items() if one.kind == kind)
            for task, anchors in played.tasks.items()
        )
        yield Held(words, holds, len(played.tasks))
    priced = sum(all(ablations_of(played, task).values()) for task in played.tasks)
    yield Held("Every hidden rule was left out by itself, and has its price", priced, len(played.tasks))


def _checks(findings: Sequence[Finding]) -> Iterator[Held]:
    for check in all_checks():
        found = [one for one in findings if one.check == check.name]
        if found and check.name not in _TOLD_APART and not check.name.startswith(BATTERY):
            yield Held(f"{check.about[0].upper()}{check.about[1:]}", sum(one.passed for one in found), len(found))
    battery = [one for one in findings if one.check.startswith(BATTERY)]
    if battery:
        withstood = (
            "Ways to break out or to cheat that are common to all scenarios, withstood, the host clean afterwards"
        )
        yield Held(withstood, sum(one.passed for one in battery), len(battery))
