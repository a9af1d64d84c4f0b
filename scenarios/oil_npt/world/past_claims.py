"""How the contractors answered the claims of January to August, and which lines of the history serve as examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from numpy.random import Generator

from scenarios.kit.tables import csv_bytes
from scenarios.oil_npt.world.archive import Archive
from scenarios.oil_npt.world.coding import WrittenLine
from scenarios.oil_npt.world.fleet import tags_of
from scenarios.oil_npt.world.stoppages import Stoppage
from scenarios.oil_npt.world.wording import pick

if TYPE_CHECKING:
    from scenarios.oil_npt.grader.ledger import Credit

SHOWN = 1_250  #: the latest lines, in every task
LAST_MONTH = date(2026, 8, 1)
LAPSED_UP_TO = date(2026, 5, 1)  #: claims of later months have not been on hold for ninety days yet
NOTICE_FROM = date(2026, 7, 1)
COLUMNS = (
    "claim_id", "rig_id", "month", "start", "end", "tag", "hours", "evidence", "response", "reason", "month_status",
)  # fmt: skip

SHORT_NAMES: Mapping[str, str] = {
    "SHK": "that shaker", "MP-3": "MP-3", "CEN-1": "the centrifuge", "CRT-1": "the casing tool",
}  # fmt: skip
HIRE_WORDS = ("{item} is on your hire", "{item} is on your hire", "{item} is hired by you, not ours")
REASONS: Mapping[str, Sequence[str]] = {
    "revision": ("not the version we signed", "report was re-issued and signed, not the version we signed", "old version"),
    "service_or_hole": ("service, not downtime", "that is hole trouble", "losses are yours, whatever the code"),
    "no_stop": ("nothing of ours was down at that time", "rig was working at that time", "times do not agree with report"),
    "beyond": ("more hours than the stop had", "hours do not agree with our tally", "too many hours for this job"),
    "notice": ("no notice under 14.3", "no notice under 14.3", "no notice under 14.3 received for this stop"),
    "form": ("line cannot be followed", "times overlap"),
}  # fmt: skip
ACCEPTED = (
    "agreed",
    "agreed as per signed DDR",
    "agreed, is in our statement",
    "OK, rig manager confirms",
    "ok as per DDR",
)
HOLE_WORDS = ("that is hole trouble", "losses are yours, whatever the code")
SERVICE_WORDS = ("service, not downtime", "routine service")


@dataclass(frozen=True, slots=True)
class Answer:
    """A claim line with the contractor's answer and what its clerk wrote beside it."""

    line: WrittenLine
    disputed: bool
    reason: str
    credit: Credit | None  #: the stop it is about, if it is about one of the contractor's
    status: str  #: of its month: released, held or lapsed


class ContractorsOffice:
    """Answers past claims by the same test as production's."""

    def __init__(
        self,
        facts: Mapping[str, Any],
        credits: Sequence[Credit],
        stoppages: Sequence[Stoppage],
        archive: Archive,
    ) -> None:
        self._facts = facts
        self._credits: dict[str, list[Credit]] = {}
        for credit in credits:
            self._credits.setdefault(credit.stoppage.rig, []).append(credit)
        self._others: dict[str, list[Stoppage]] = {}
        for stop in stoppages:
            if stop.kind != "C":
                self._others.setdefault(stop.rig, []).append(stop)
        self._archive = archive

    def answer(self, lines: Sequence[WrittenLine], month: date, rng: Generator) -> list[Answer]:
        """Answers to all lines of one month, in the order given."""
        from scenarios.oil_npt.grader.claims import Claim, ClaimLine
        from scenarios.oil_npt.grader.disputes import judge_month

        claims: dict[str, list[ClaimLine]] = {}
        for line in lines:
            evidence = tuple(line.evidence.split("|"))
            claims.setdefault(line.rig, []).append(
                ClaimLine(line.number, line.start, line.end, line.tag, float(line.hours), False, evidence)
            )
        judged = judge_month(
            {rig: Claim(rig, month, tuple(found), ()) for rig, found in claims.items()}, month, self._record(month)
        )
        answers: list[Answer] = []
        by_number = {(line.rig, line.number): line for line in lines}
        for claim in judged:
            held = any(one.reason is not None for one in claim.lines)
            status = ("lapsed" if month <= LAPSED_UP_TO else "held") if held else "released"
            for one in claim.lines:
                line = by_number[claim.rig, one.line.number]
                words = pick(rng, ACCEPTED) if one.reason is None else self._words(one.reason, line, rng)
                answers.append(Answer(line, one.reason is not None, words, one.credit, status))
        return answers

    def _record(self, month: date) -> Any:
        from scenarios.oil_npt.grader.disputes import Record

        refused = bool(self._facts["notice_required"]) and month >= NOTICE_FROM
        return Record(
            credits=self._credits,
            others=self._others,
            tags=lambda rig: frozenset(tags_of(rig)),
            report_ids=self._archive.report_ids,
            binding_rev=self._archive.binding_rev,
            noticed=lambda _: not refused,
        )

    def _words(self, reason: str, line: WrittenLine, rng: Generator) -> str:
        """What the contractor's clerk wrote."""
        if bool(self._facts["notice_required"]) and line.month >= NOTICE_FROM:
            return pick(rng, REASONS["notice"])
        if reason in ("item", "service_or_hole"):
            stop = self._other_stop(line)
            if stop is None:
                return pick(rng, REASONS["no_stop"])
            if stop.kind == "O":
                return pick(rng, HIRE_WORDS).format(item=SHORT_NAMES.get(stop.tag, line.tag))
            return pick(rng, HOLE_WORDS if stop.kind == "H" else SERVICE_WORDS)
        report, _, rev = line.evidence.partition("@")
        if reason == "revision" and self._archive.binding_rev(report) == int(rev):
            reason = "beyond"
        return pick(rng, REASONS.get(reason, REASONS["beyond"]))

    def _other_stop(self, line: WrittenLine) -> Stoppage | None:
        for stop in self._others.get(line.rig, []):
            segments = stop.versions[-1].segments
            if segments[0].start < line.end and segments[-1].end > line.start and stop.kind != "W":
                return stop
        return None


def shown(answers: Sequence[Answer]) -> list[Answer]:
    """The extract that Accounts Payable keeps: the latest lines up to August, oldest first."""
    ordered = sorted(answers, key=lambda one: (one.line.month, one.line.rig, one.line.number))
    if len(ordered) < SHOWN:
        raise AssertionError(f"the history has {len(ordered)} claim lines, {SHOWN} are shown")
    return ordered[-SHOWN:]


def claims_csv(answers: Sequence[Answer]) -> bytes:
    rows = [
        (
            one.line.claim_id, one.line.rig, f"{one.line.month:%Y-%m}", one.line.start.strftime("%Y-%m-%dT%H:%M"),
            one.line.end.strftime("%Y-%m-%dT%H:%M"), one.line.tag, one.line.hours, one.line.evidence,
            "disputed" if one.disputed else "accepted", one.reason, one.status,
        )
        for one in answers
    ]  # fmt: skip
    return csv_bytes(COLUMNS, rows)
