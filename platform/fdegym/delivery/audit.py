"""The audit of a run: everything about it that can be checked afterwards, check by check, without changing anything.

A check is so, not so, or could not be made here: then it says why and what would make it possible. Checks build on each
other (a charge is worth nothing in a log that is forged), so an audit ends with the first that is not so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fdegym.delivery.evidence import UNREADABLE, Evidence, NotChecked, read_evidence
from fdegym.delivery.given import GIVEN, ask_hash, hashes_of
from fdegym.delivery.retention import SUBMISSION, removed_of
from fdegym.gateway import audit as model_calls
from fdegym.gateway.use import use_of_events
from fdegym.runs import audit as logs
from fdegym.runs.models import BEGUN, Run, RunEvent, RunOrigin, RunState
from grading import recount
from grading.anchoring import admitted_anchors
from grading.models import Grade, SubmissionState
from grading.versions import grader_version
from stakeholders.redecide import first_difference
from stakeholders.scripts import compiled_script
from stakeholders.versions import people_version

#: Where a run is over → where its submission is.
ENDED: dict[str, str] = {RunState.GRADED: SubmissionState.GRADED, RunState.VOID: SubmissionState.VOID}


class Result(StrEnum):
    SO = "so"
    NOT_SO = "not so"
    UNKNOWN = "not checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: its key, what came of it, and why in words."""

    check: str
    result: Result
    words: str


@dataclass(frozen=True, slots=True)
class Report:
    run: Run
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Nothing was found that is not so."""
        return all(finding.result != Result.NOT_SO for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        run = self.run
        return {
            "run": str(run.id),
            "scenario": run.scenario_id,
            "task": run.task_id,
            "level": run.level,
            "attempt": run.attempt,
            "ranked": run.is_ranked,
            "training": run.training,
            "state": run.state,
            "holds": self.holds,
            "checks": [
                {"check": found.check, "result": str(found.result), "words": found.words} for found in self.findings
            ],
        }


def audit_run(run_id: Any) -> Report:
    """Check a run; ends with the first check that is not so. Reads only. Raises ``Run.DoesNotExist``."""
    if not Run.objects.filter(pk=run_id).exists():
        raise Run.DoesNotExist
    try:
        evidence = read_evidence(run_id)
    except UNREADABLE as problem:
        return Report(Run(pk=run_id), (Finding(next(iter(CHECKS)), Result.NOT_SO, _unreadable(problem)),))
    findings = []
    for check, make in CHECKS.items():
        finding = _finding(check, make, evidence)
        findings.append(finding)
        if finding.result == Result.NOT_SO:
            break
    return Report(evidence.run, tuple(findings))


def _finding(check: str, make: Callable[[Evidence], str], evidence: Evidence) -> Finding:
    try:
        return Finding(check, Result.SO, make(evidence))
    except _NotSo as problem:
        return Finding(check, Result.NOT_SO, str(problem))
    except NotChecked as why:
        return Finding(check, Result.UNKNOWN, str(why))
    except UNREADABLE as problem:
        return Finding(check, Result.NOT_SO, _unreadable(problem))


def _unreadable(problem: Exception) -> str:
    return (
        f"A row holds something that the site does not write there, so it cannot be read ({type(problem).__name__}: "
        f"{problem}). Whoever wrote it had the database."
    )


class _NotSo(Exception):
    """A check that found what is not so."""


def _require(problem: str) -> None:
    if problem:
        raise _NotSo(problem)


# ---- the log ---------------------------------------------------------------------------------------------------------


def _chain(evidence: Evidence) -> str:
    _require(logs.broken_chain(evidence.run, evidence.events))
    return f"{len(evidence.events)} events, each follows from the one before."


def _signatures(evidence: Evidence) -> str:
    _require(logs.unsigned_event(evidence.events))
    return "This site's key signed every event."


def _seal(evidence: Evidence) -> str:
    _require(logs.broken_seal(evidence.run, evidence.events))
    handed_in = logs.submission_event(evidence.events)
    return f"Sealed at event {handed_in.seq}." if handed_in else "Not handed in, so there is nothing to seal."


def _course(evidence: Evidence) -> str:
    run = evidence.run
    _require(logs.wrong_course(run, evidence.events))
    owner = "of a command" if run.origin == RunOrigin.COMMAND else f"of account {run.user_id}"
    return f"Attempt {run.attempt} {owner}, level {run.level}, begun {run.begun_at:%Y-%m-%d %H:%M} UTC, {run.state}."


def _earlier(evidence: Evidence) -> str:
    run = evidence.run
    if run.user_id is None or run.origin == RunOrigin.COMMAND or run.state not in BEGUN:
        return "Not a run that could rank."
    own = Run.objects.filter(user_id=run.user_id, scenario_id=run.scenario_id, state__in=BEGUN, attempt__lt=run.attempt)
    begun = dict(own.values_list("attempt", "begun_at"))
    missing = [str(attempt) for attempt in range(1, run.attempt) if attempt not in begun]
    _require(f"The person's attempt {', '.join(missing)} of this scenario is gone." if missing else "")
    late = [str(attempt) for attempt, at in begun.items() if at > run.begun_at]
    _require(f"The person's attempt {', '.join(late)} was begun after this one." if late else "")
    if run.training:
        return "A run of a training scenario: it does not rank."
    return (
        "The first begun run: it ranks." if run.is_ranked else f"{run.attempt - 1} begun before it: it does not rank."
    )


# ---- what the run was given, and what people said --------------------------------------------------------------------


def _prepared(evidence: Evidence) -> RunEvent:
    found = evidence.of_kind("run.prepared")
    if not found:
        raise NotChecked("No workspace was made yet, so nothing was given.")
    return found[-1]


def _given(evidence: Evidence) -> str:
    prepared = _prepared(evidence)
    task = evidence.task(prepared.payload["release"])
    try:
        now = hashes_of(task, evidence.run.level)
    except OSError as gone:
        raise _NotSo(f"A part of the run's world is gone from this host: {gone}") from gone
    recorded = prepared.payload["given"]
    wrong = [words for name, words in GIVEN.items() if name != "ask" and recorded.get(name) != now[name]]
    _require(f"Not what the run was given: {', '.join(wrong)}." if wrong else "")
    _require(
        "The run's world is another one than the log names." if prepared.payload["world"] != task.meta.sha256 else ""
    )
    earlier = len(evidence.of_kind("run.prepared")) - 1
    words = "Instruction, documents, data, directory, system as found and citable records are those that were given"
    return f"{words} from event {prepared.seq} on; before, others were." if earlier else f"{words}."


def _ask(evidence: Evidence) -> str:
    prepared = _prepared(evidence)
    recorded = prepared.payload["given"]["ask"]
    now = ask_hash()
    if recorded == now:
        return f"`ask` was, and is, {now[:12]}."
    words = f"`ask` was {recorded[:12]} in this run, here it is {now[:12]}"
    if prepared.payload["people"] != people_version():
        raise NotChecked(f"{words}; the rest of the installation has changed too, so this may be an update.")
    raise _NotSo(f"{words}, though nothing else of the installation has changed: one of the two was replaced.")


def _replies(evidence: Evidence) -> str:
    contacts = [event for event in evidence.events if event.kind.startswith(("contact.", "trial."))]
    if not contacts:
        return "Nobody was asked anything."
    run, prepared = evidence.run, _prepared(evidence)
    if prepared.payload["release"] != run.release:
        raise NotChecked("The workspace was made under another release of the scenario than the run was begun with.")
    evidence.task(run.release)
    difference = first_difference(compiled_script(run.scenario_id, run.task_id, run.release), evidence.events)
    if difference is None:
        tried = any(event.kind.startswith("trial.") for event in contacts)
        what = "messages, waits, letters and trials" if tried else "messages, waits and letters"
        return f"{len(contacts)} {what} decided again: same words, charges, facts and approvals."
    if prepared.payload["people"] != people_version():
        raise NotChecked(
            f"The rules that answered then ({prepared.payload['people']}) are not those here ({people_version()}), and "
            f"they do not agree. {difference.words}."
        )
    raise _NotSo(f"{difference.words}.")


# ---- what was handed in and what it came to --------------------------------------------------------------------------


def _system(evidence: Evidence) -> str:
    frozen, submission = evidence.of_kind("run.frozen"), evidence.submission
    handed_in = logs.submission_event(evidence.events)
    if submission is None:
        _require("The log says that the run was handed in, but there is no submission." if handed_in else "")
        return "Not handed in."
    _require("There is a submission, but the log has none." if handed_in is None else "")
    _require("" if len(frozen) == 1 else "The log does not say, once, which system was frozen.")
    for name in ("sha256", "files", "bytes", "cause"):
        kept, recorded = getattr(submission, name), frozen[0].payload.get(name)
        _require(f"The submission's {name} is {kept}, the log says {recorded}." if kept != recorded else "")
    if evidence.run.state in ENDED and submission.state != ENDED[evidence.run.state]:
        _require(f"The run is {evidence.run.state} in its log, its submission {submission.state!r}.")
    try:
        with submission.sealed.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as problem:
        if (gone := removed_of(evidence.run).get(SUBMISSION)) is not None:
            raise NotChecked(f"By the site's rule the sealed system was removed on {gone:%Y-%m-%d}.") from problem
        raise NotChecked(f"The sealed system cannot be read on this host: {problem.strerror}.") from problem
    _require(
        f"The sealed system is not what was handed in: {digest[:12]}… instead of {submission.sha256[:12]}…."
        if digest != submission.sha256
        else ""
    )
    return f"{submission.files} files, SHA-256 {digest[:12]}…, as handed in."


def _grades(evidence: Evidence) -> str:
    added = evidence.of_kind("grade.added")
    numbers = [grade.number for grade in evidence.grades]
    recorded = [event.payload.get("number") for event in added]
    _require(
        f"The grades are {_listed(numbers)}, the log has added {_listed(recorded)}." if numbers != recorded else ""
    )
    for grade, event in zip(evidence.grades, added, strict=True):
        edited = recount.edited_fields(grade, event.payload["row"])
        _require(f"The row was edited: {edited}." if edited else "")
    differing = [str(grade.number) for grade in evidence.grades if grade.differs]
    words = f"{_listed(numbers)}, as added; the first counts." if numbers else "Not graded."
    return f"{words} Grade {', '.join(differing)} differs: the delivery is random." if differing else words


def _listed(numbers: Sequence[Any]) -> str:
    return ", ".join(str(number) for number in numbers) or "none"


def _for_each_grade(evidence: Evidence, problem_of: Callable[[Grade], str]) -> None:
    for grade in evidence.grades:
        problem = problem_of(grade)
        _require(f"Grade {grade.number}: {problem}." if problem else "")


def _contacts(evidence: Evidence) -> str:
    talk = evidence.conversation
    _for_each_grade(evidence, lambda grade: recount.miscounted_contacts(grade, talk))
    trials = f" and {talk.trials} trial{'' if talk.trials == 1 else 's'}" if talk.trials else ""
    return f"C = {talk.cost} from {sum(talk.contacts_by_person.values())} contacts{trials}."


def _score(evidence: Evidence) -> str:
    _for_each_grade(evidence, recount.miscounted_score)
    if not evidence.grades:
        return "Not graded."
    grade = evidence.grades[0]
    baseline = f"{grade.kpi_baseline:g}" if grade.kpi_baseline >= 0 else f"({grade.kpi_baseline:g})"
    return (
        f"U = ({grade.kpi:g} − {baseline}) / ({grade.kpi_reference:g} − {baseline}) = "
        f"{grade.uplift}; U_adj = {grade.uplift_adjusted}; S = {grade.score}."
    )


def _incidents(evidence: Evidence) -> str:
    if not evidence.grades:
        return "Not graded."
    scenario = evidence.same_scenario(evidence.grades[0].scenario_release)

    def misjudged(grade: Grade) -> str:
        if grade.scenario_release != scenario.release:
            return ""  # a regrade under other rules, which replaces nothing
        return recount.misjudged_incidents(grade, evidence.conversation, scenario.config.incidents)

    _for_each_grade(evidence, misjudged)
    return f"{_listed([row['id'] for row in evidence.grades[0].incidents])}, held against the approvals of the log."


def _ends(evidence: Evidence) -> str:
    if not evidence.grades:
        return "Not graded."
    grade = evidence.grades[0]
    scenario = evidence.same_scenario(grade.scenario_release)
    anchors = admitted_anchors(scenario, evidence.run.task_id)
    if anchors is None or grade.salt_fingerprint:
        raise NotChecked(
            "The two ends were measured by this site itself; `regrade` measures the delivery against them."
        )
    for name, kept, right in (
        ("as found", grade.kpi_baseline, anchors.kpi_baseline),
        ("of the reference", grade.kpi_reference, anchors.kpi_reference),
    ):
        _require(f"The KPI {name} is {kept:g} in the grade, {right:g} as admitted." if kept != right else "")
    return f"As found {anchors.kpi_baseline:g}, reference {anchors.kpi_reference:g}, as admitted."


def _model_use(evidence: Evidence) -> str:
    pairs = [(event.kind, event.payload) for event in evidence.events]
    problem = model_calls.miscounted_work(evidence.run, pairs)
    _require(f"{problem[:1].upper()}{problem[1:]}." if problem else "")
    _for_each_grade(evidence, lambda grade: model_calls.miscounted_grading(grade.replay.get("model_use")))
    work = use_of_events(pairs)
    if not work.calls and not any(grade.replay.get("model_use") for grade in evidence.grades):
        return "No language model was asked."
    return f"{work.calls} calls during work, {work.tokens} tokens, {work.money}; no part of the score."


def _versions(evidence: Evidence) -> str:
    words = [f"Begun with release {evidence.run.release[:12]}"]
    for grade in evidence.grades[:1]:
        made = {"scenario": grade.scenario_release[:12], "grader": grade.grader_version}
        made |= {"salt": grade.salt_fingerprint or "none"}
        made |= {
            name: str(grade.environment[name]) for name in ("python", "sqlite", "sandbox") if name in grade.environment
        }
        words.append("graded by " + ", ".join(f"{name} {value}" for name, value in made.items()))
        if grade.grader_version != grader_version():
            words.append(f"this installation's grader is {grader_version()}")
    return "; ".join(words) + "."


#: Key → the check, in the order in which they build on each other.
CHECKS: dict[str, Callable[[Evidence], str]] = {
    "chain": _chain,
    "signatures": _signatures,
    "seal": _seal,
    "course": _course,
    "earlier runs": _earlier,
    "given": _given,
    "ask": _ask,
    "replies": _replies,
    "system": _system,
    "grades": _grades,
    "contacts": _contacts,
    "incidents": _incidents,
    "score": _score,
    "ends of U": _ends,
    "model use": _model_use,
    "versions": _versions,
}
