"""Writes what the workspace shows: reports, tables of other departments, past claims, and the system's database."""

from __future__ import annotations

import csv
import io
import runpy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.kit.tables import write_sqlite
from scenarios.kit.world import BuildResult, Streams, TaskView
from scenarios.oil_npt.world import master_data, past_claims, periods, statements
from scenarios.oil_npt.world.archive import Archive
from scenarios.oil_npt.world.coding import SYSTEM, CodingInForce, Row, first_versions, stored
from scenarios.oil_npt.world.feed import deliveries, drops, file_name
from scenarios.oil_npt.world.fleet import contractor_of
from scenarios.oil_npt.world.hires import Hires
from scenarios.oil_npt.world.past_claims import Answer, ContractorsOffice
from scenarios.oil_npt.world.process import CONTESTED_MONTH, CONTESTED_RIG, CONTESTED_TAG, NEW_TOOL_FROM
from scenarios.oil_npt.world.quarters import months_between
from scenarios.oil_npt.world.statements import Key, StatementRow

if TYPE_CHECKING:
    from scenarios.oil_npt.grader.ledger import Credit

MASTER_DATA_DAY = date(2026, 9, 28)  #: the last Monday whose tables are shown
AMENDED_FROM = date(2026, 7, 1)
FEED_RIG = "VM-201"


@dataclass(frozen=True, slots=True)
class Examples:
    """Lines and rows of the history that texts and conversations name."""

    recur: Answer
    month_used: Answer
    contested: Answer
    statement: StatementRow
    feed_report: str

    def facts(self) -> dict[str, str]:
        return {
            "ex_recur": self.recur.line.claim_id,
            "ex_month_used": self.month_used.line.claim_id,
            "ex_contested": self.contested.line.claim_id,
            "ex_statement_rig": self.statement.rig,
            "ex_statement_date": self.statement.day.isoformat(),
            "ex_statement_tag": self.statement.tag,
            "ex_feed_report": self.feed_report,
        }


def build(task: TaskView, streams: Streams, out: Path) -> BuildResult:
    """Write ``out/data`` and the generated part of ``out/system``; the rest of ``system`` is there already."""
    from scenarios.oil_npt.grader.ledger import ledger

    hires = Hires(streams, task.facts)
    period = periods.history(streams, task.facts, hires)
    stoppages = period.stoppages()
    archive = Archive(period.reports, str(task.facts["binding"]))
    files = _write_reports(out, period, streams)
    _write_tables(out, hires, streams)
    lines = first_versions(files.values())
    credits = ledger(stoppages, task.facts)

    office = ContractorsOffice(task.facts, credits, stoppages, archive)
    answers = _answers(office, lines, streams, out / "data" / "equipment_alias.csv")
    rows = statements.candidates(credits, stoppages)
    examples = _examples(answers, rows, lines, task.facts)
    shown_rows = statements.sampled(rows, _always(examples), streams.rng("statements"))
    _write(out / "data" / "claims_2026.csv", past_claims.claims_csv(answers))
    remarks = streams.rng("statement remarks")
    _write(out / "data" / "contractor_statements.csv", statements.statements_csv(shown_rows, remarks))
    _write_database(out, lines)
    return _result(examples, archive.ids(), answers, hires, shown_rows)


# ---- files ----


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _write_reports(out: Path, period: periods.Period, streams: Streams) -> dict[date, bytes]:
    arrivals = [
        one for one in deliveries(period.reports, periods.HISTORY[1]) if one.morning <= periods.LAST_SHOWN_MORNING
    ]
    mornings = (periods.FIRST_MORNING, periods.LAST_SHOWN_MORNING)
    files = dict(drops(arrivals, streams.rng("history:dirt"), mornings))
    for morning, data in files.items():
        _write(out / "data" / "ddr" / file_name(morning), data)
    return files


def _write_tables(out: Path, hires: Hires, streams: Streams) -> None:
    data = out / "data"
    _write(data / "rental_orders.csv", master_data.rental_orders_csv(hires, MASTER_DATA_DAY))
    _write(data / "equipment_register.csv", master_data.register_csv(hires, streams, MASTER_DATA_DAY))
    for name, content in (
        ("equipment_alias.csv", master_data.alias_csv()),
        ("contacts.csv", master_data.contacts_csv()),
    ):
        _write(data / name, content)
        _write(out / "system" / "data" / name, content)


def _write_database(out: Path, lines: Sequence[Row]) -> None:
    """``var/npt.sqlite`` as the mornings' ``ingest`` left it."""
    schema = str(runpy.run_path(str(SYSTEM / "npt" / "store.py"))["SCHEMA"])
    path = out / "system" / "var" / "npt.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    tables: dict[str, Iterable[Sequence[object]]] = {
        "ddr_line": stored(lines),
        "rental_order": _table(out / "data" / "rental_orders.csv"),
        "equipment": _table(out / "data" / "equipment_register.csv"),
    }
    write_sqlite(path, schema, tables)


def _table(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))[1:]


# ---- past claims and the examples in them ----


def _answers(office: ContractorsOffice, lines: Sequence[Row], streams: Streams, alias_table: Path) -> list[Answer]:
    coding = CodingInForce()
    rng = streams.rng("answers")
    answers: list[Answer] = []
    for month in months_between(periods.HISTORY[0], past_claims.LAST_MONTH):
        answers += office.answer(coding.close(lines, month, alias_table), month, rng)
    return past_claims.shown(answers)


def _examples(answers: Sequence[Answer], rows: Sequence[StatementRow], lines: Sequence[Row], facts: Any) -> Examples:
    in_tally = {id(row.credit) for row in rows if row.credit is not None}

    def without_allowance(one: Answer) -> Credit | None:
        credit = one.credit
        fits = credit is not None and id(credit) in in_tally and credit.allowance_h == 0.0
        return credit if fits else None

    july = [one for one in answers if one.line.month == AMENDED_FROM and without_allowance(one)]
    of_hollin = [one for one in july if contractor_of(one.line.rig) == "HD"]
    recurring = [one for one in of_hollin if one.credit is not None and one.credit.recurring]
    used_up = [
        one
        for one in answers
        if one.line.month >= AMENDED_FROM
        and (credit := without_allowance(one))
        and not credit.recurring
        and credit.used_before_h >= credit.terms.month_allowance_h
    ]
    amended = [one for one in used_up if contractor_of(one.line.rig) not in facts["old_terms_contractors"]]
    contested = [
        one
        for one in answers
        if one.line.rig == CONTESTED_RIG
        and one.line.month == CONTESTED_MONTH
        and one.line.tag == CONTESTED_TAG
        and one.disputed
    ]
    statement = next(
        row
        for row in sorted(rows, key=lambda row: (row.rig != FEED_RIG, row.day))
        if row.credit is not None and row.day >= AMENDED_FROM and contractor_of(row.rig) in ("HD", "VM")
    )
    recur = (recurring or of_hollin or july or amended)[0]
    month_used = next((one for one in amended or used_up if one.credit is not recur.credit), recur)
    return Examples(recur, month_used, contested[0], statement, _feed_report(lines))


def _feed_report(lines: Sequence[Row]) -> str:
    """A report of the new tool with both pre-tour meetings in it."""
    meetings: dict[str, int] = {}
    for row in lines:
        if row["rig_id"] == FEED_RIG and row["sub_code"] == "PTM" and row["report_date"] >= "2026-08-10":
            meetings[row["report_id"]] = meetings.get(row["report_id"], 0) + 1
    return min(report for report, count in meetings.items() if count == 2)


def _always(examples: Examples) -> frozenset[Key]:
    """Rows that must be in the tallies, because somebody speaks of them."""
    keys = [examples.statement.key]
    for one in (examples.recur, examples.month_used):
        if one.credit is not None:
            start: datetime = one.credit.start
            keys.append((one.line.rig, start.date().isoformat(), one.credit.stoppage.tag))
    return frozenset(keys)


def _result(
    examples: Examples,
    reports: Sequence[str],
    answers: Sequence[Answer],
    hires: Hires,
    rows: Sequence[StatementRow],
) -> BuildResult:
    own = ("HD", "VM")
    since_july = {
        "statement": ["|".join(row.key) for row in rows if contractor_of(row.rig) in own and row.day >= AMENDED_FROM],
        "claim_line": [
            one.line.claim_id
            for one in answers
            if contractor_of(one.line.rig) in own and one.line.month >= AMENDED_FROM
        ],
    }
    from_august = [
        report
        for report in reports
        if contractor_of(report) in own and report.partition("/")[2] >= NEW_TOOL_FROM.isoformat()
    ]
    return BuildResult(
        facts=examples.facts(),
        records={
            "report": list(reports),
            "claim_line": [one.line.claim_id for one in answers],
            "rental_order": [order.number for order in hires.known_on(MASTER_DATA_DAY)],
            "statement": ["|".join(row.key) for row in rows],
        },
        record_groups={"hd_vm_since_july": since_july, "hd_vm_since_august": {"report": from_august}},
    )
