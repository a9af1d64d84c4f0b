"""Playing one entry of the battery on one scenario, through the services that a person uses, and judging what came of it.

The base is the system as found, so that an attack that pays shows in S. Beside it lives a neighbour, a run of somebody
else, that must not notice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings

from fdegym.authoring.battery.entries import CALL_HOOKS, Entry
from fdegym.authoring.battery.knowledge import known_to_the_attack
from fdegym.authoring.battery.laying import HOME_PLACE, REPORT, laid_files
from fdegym.authoring.battery.neighbour import Neighbour, neighbour
from fdegym.authoring.battery.typed import DONE, type_into
from fdegym.authoring.battery.watching import REPORT_BYTES, WatchedCalls
from fdegym.authoring.battery.witness import HostWitness, gone_in_time, pids_of
from fdegym.catalog.scenarios import get_scenario
from fdegym.delivery.begin import begin_command_run
from fdegym.delivery.materials import desk_directory
from fdegym.delivery.play import end_command_run
from fdegym.delivery.submit import submit_run
from fdegym.lib.errors import FdegymError
from fdegym.runs import log
from fdegym.runs.models import Run
from grading.models import Grade
from grading.replay import OVERLOADED
from grading.services import current_grade, grade_submission
from grading.worlds import ensure_world
from scenarios.kit.build import visible_hash
from scenarios.kit.load import ORIGINAL, Task
from workspaces.runtime.errors import SandboxFileProblem
from workspaces.services import keeper_answers, put_file, read_file, run_in_workspace

SCORE_MOST = Decimal("0.05")
WORKSPACE_TIMEOUT_S = 90.0
#: What a run's log holds when nobody was written to, and how often at most.
OWN_EVENTS = {"run.begun": 1, "run.prepared": 1, "run.frozen": 1, "run.state": 3, "grade.added": 1}


@dataclass(slots=True)
class BatteryPlay:
    """What came of an entry. ``problems`` say what must not be, in words; without any it was withstood."""

    entry: str
    scenario: str
    problems: list[str] = field(default_factory=list)
    score: Decimal | None = None
    uplift: Decimal | None = None
    incidents: tuple[str, ...] = ()
    failures: dict[str, int] = field(default_factory=dict)  #: how production's calls failed: word → how often
    refused: int = 0  #: attempts that brought nothing
    did: tuple[str, ...] = ()
    report: list[dict[str, Any]] = field(default_factory=list)  #: every attempt, and what was done, in its own words
    busy: bool = False  #: a call's wall clock ran out on a host too busy to judge that: no grade, and rightly so
    keeper_grew_by: int = 0  #: descriptors that the keeper held more afterwards: of others as well, if there were any
    wall_s: float = 0.0

    @property
    def passed(self) -> bool:
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        return {
            "entry": self.entry,
            "passed": self.passed,
            "problems": self.problems,
            "score": None if self.score is None else float(self.score),
            "uplift": None if self.uplift is None else float(self.uplift),
            "incidents": list(self.incidents),
            "failures": self.failures,
            "refused": self.refused,
            "did": list(self.did),
            "busy": self.busy,
            "keeper_grew_by": self.keeper_grew_by,
            "wall_s": round(self.wall_s, 1),
        }


def play_battery(scenario_id: str, entry: Entry, *, task_id: str = ORIGINAL, level: str = "L3") -> BatteryPlay:
    """Play one entry on one task. Needs desk and keeper (``local_services``); plays may go on side by side, each in a
    process of its own. Raises only for faults of ours that are no attack's doing (no sandbox, no such scenario).
    """
    begun, held_before = time.monotonic(), _held_by_the_keeper()
    task = ensure_world(get_scenario(scenario_id), task_id)
    play = BatteryPlay(entry.name, scenario_id)
    with HostWitness() as witness, neighbour(task, level) as beside:
        _Playing(entry, task, play, witness, beside).through(level)
    # what was asked last may be open still, so the least of several looks counts
    play.keeper_grew_by = len(gone_in_time(lambda: ["more"] * (_held_by_the_keeper() - held_before)))
    play.wall_s = time.monotonic() - begun
    return play


class _Playing:
    """One play under way."""

    def __init__(self, entry: Entry, task: Task, play: BatteryPlay, witness: HostWitness, beside: Neighbour) -> None:
        self.entry, self.task, self.play, self.witness, self.beside = entry, task, play, witness, beside
        self.calls = WatchedCalls(witness, short=entry.slow)
        self.told: list[str] = []  #: everything the attack could bring out, as text

    def through(self, level: str) -> None:
        """Begin, attack, hand in, grade, clear away, look."""
        run = begin_command_run(self.task.scenario.id, self.task.task_id, level)
        workspace = Path(settings.SANDBOX_DIR) / str(run.id)
        try:
            self.witness.note_sandbox(str(run.id), pids_of(workspace))
            self._lay(run)
            self._in_workspace(run)
            self._grade(run)
        finally:
            end_command_run(run)
        self._judge_reports()
        places = [workspace, desk_directory(run), *self.calls.places]
        self.play.problems += [*self.witness.reached(), *self.witness.left(places), *self._log_of(run)]
        self.play.problems += [*self.beside.disturbed(), *self._secrets(), *self._services(run)]
        if visible_hash(self.task.visible) != self.task.meta.sha256:
            self.play.problems.append("the world that all runs of the task share was changed")

    # ---- attacking

    def _lay(self, run: Run) -> None:
        run_id = str(run.id)

        def as_found(path: str) -> bytes | None:
            try:
                return read_file(run_id, f"/workspace/system/{path}")
            except SandboxFileProblem:
                return None

        known = known_to_the_attack(self.task, self.witness, self.beside.run_id)
        points = self.task.scenario.config.replay.entry_points
        for path, data in laid_files(self.entry, known, points, as_found).items():
            put_file(run_id, path, data)

    def _in_workspace(self, run: Run) -> None:
        run_id, play = str(run.id), self.play
        if "in_workspace" in self.entry.hooks:
            command = ["python3", f"{HOME_PLACE}/bypass_call.py"]
            done = run_in_workspace(run_id, command, timeout_s=WORKSPACE_TIMEOUT_S)
            self.told.append(done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace"))
            if done.exit_status and not self.entry.may_fail:
                play.problems.append(f"in the workspace it broke: {self.told[-1][-300:]}")
        if self.entry.typed:
            seen = type_into(run_id, self.entry.typed)
            self.told.append(seen.decode(errors="replace"))
            if DONE not in seen:
                play.problems.append("the terminal did not come to the end of what was typed")
            lines = [line for line in self.told[-1].splitlines() if line.startswith("LOOT: ")]
            play.problems += [f"loot in the terminal: {line[:300]}" for line in lines]
        try:
            alive = run_in_workspace(run_id, ["echo", "alive"], timeout_s=60)
            if alive.stdout != b"alive\n":
                play.problems.append("the workspace does not answer any more")
            self.calls.reports["in_workspace"] = read_file(run_id, REPORT, max_bytes=REPORT_BYTES)
        except SandboxFileProblem:
            self.calls.reports["in_workspace"] = b""
        except FdegymError as problem:
            play.problems.append(f"the workspace is lost: {problem}")

    def _grade(self, run: Run) -> None:
        try:
            submission = submit_run(run.id)
            grade_submission(submission, watched=self.calls.watch)
        except FdegymError as problem:
            self.play.problems.append(f"it could not be handed in or graded: {problem}")
            return
        run.refresh_from_db()
        grade = current_grade(run)
        if grade is None:
            submission.refresh_from_db()
            self.play.busy = (
                submission.void_reason == OVERLOADED and "wall_limit" in self.entry.fails | self.entry.may_fail
            )
            if not self.play.busy:
                self.play.problems.append(f"the grade came to nothing: {submission.void_reason}")
            return
        self._judge_grade(grade)

    # ---- judging

    def _judge_grade(self, grade: Grade) -> None:
        play, entry = self.play, self.entry
        play.score, play.uplift = Decimal(grade.score), Decimal(grade.uplift)
        play.incidents = tuple(str(found["id"]) for found in grade.incidents)
        for row in grade.replay["failures"].values():
            for word, count in row["failures"].items():
                play.failures[word] = play.failures.get(word, 0) + count
        self.told.append(json.dumps([grade.replay, grade.breakdown, grade.incidents], ensure_ascii=False))
        if play.score > SCORE_MOST:
            play.problems.append(f"it scores S = {play.score:.3f}; at most {SCORE_MOST} is allowed")
        seen = set(play.failures)
        if entry.fails and not seen & entry.fails:
            play.problems.append(f"no call ended by {' or '.join(sorted(entry.fails))}")
        # what a call that failed should have left behind, the next one may miss
        follows = {"obstructed"} | ({"exit"} if seen & entry.fails else set())
        for word in sorted(seen - entry.fails - entry.may_fail - follows):
            first = next(row["first"] for row in grade.replay["failures"].values() if word in row["failures"])
            play.problems.append(f"calls ended by {word}, unforeseen: {str(first)[-400:]}")

    def _judge_reports(self) -> None:
        rows = list(_rows(self.calls.reports.values()))
        self.told += [json.dumps(row, ensure_ascii=False) for row in rows]
        play = self.play
        play.report = rows
        play.problems += [f"loot: {row['tried']}: {row['loot']}" for row in rows if "loot" in row]
        play.problems += [f"its own mistake: {row['tried']}: {row['broke']}" for row in rows if "broke" in row]
        play.refused = sum("refused" in row or "nothing" in row for row in rows)
        play.did = tuple(dict.fromkeys(str(row["did"]) for row in rows if "did" in row))
        acted = {row["where"] for row in rows}
        if "in_workspace" in self.entry.hooks and "in_workspace" not in acted:
            play.problems.append("nothing was seen of what it was to do in the workspace")
        if self.entry.in_calls and not acted & set(CALL_HOOKS):
            play.problems.append("nothing was seen of what it was to do in production's calls")
        if self.calls.survivors:
            play.problems.append(f"processes outlived their call {self.calls.survivors} times")
        if not self.witness.namespaces:
            play.problems.append("its sandboxes could not be watched: no process of them was found")

    def _log_of(self, run: Run) -> Iterator[str]:
        broken = log.first_broken_link(run)
        if broken is not None:
            yield f"the log of the run is broken at event {broken}"
        counts: dict[str, int] = {}
        for event in log.events(run.id):
            counts[event.kind] = counts.get(event.kind, 0) + 1
        for kind, count in sorted(counts.items()):
            if count > OWN_EVENTS.get(kind, 0):
                yield f"the log holds {count} events {kind}; {OWN_EVENTS.get(kind, 0)} are its own"

    def _secrets(self) -> Iterator[str]:
        secrets = {"the neighbour's file": self.beside.secret, "the site's key": settings.SECRET_KEY}
        if settings.WORLD_SALT:
            secrets["the salt"] = settings.WORLD_SALT
        text = "\n".join(self.told)
        yield from (f"it learnt {what}" for what, secret in secrets.items() if secret in text)

    def _services(self, run: Run) -> Iterator[str]:
        """Desk and keeper still answer, and the keeper has let go of the run."""

        def held() -> list[str]:
            return [target for link in _keeper().iterdir() if str(run.id) in (target := _target(link))]

        yield from (f"the keeper still holds {link}" for link in gone_in_time(held))


def _keeper() -> Path:
    """The keeper's descriptors."""
    return Path(f"/proc/{keeper_answers()['pid']}/fd")


def _held_by_the_keeper() -> int:
    return len(list(_keeper().iterdir()))


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _rows(reports: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The lines of reports; what is none (a disk was full, or an attack tampers with its own report) is left out."""
    for report in reports:
        for line in report.splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict) and "where" in row:
                yield row
