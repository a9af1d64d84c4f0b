"""oil_npt's past: claims as the system as found writes them, the contractors' answers and tallies, and what they show."""

from __future__ import annotations

import csv
import functools
import io
import re
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import pytest

from scenarios.oil_npt.grader.ledger import ledger
from scenarios.oil_npt.world import periods
from scenarios.oil_npt.world.fleet import HIRED_TAGS, contractor_of
from scenarios.oil_npt.world.hires import Hires
from scenarios.oil_npt.world.stoppages import Stoppage
from tests.scenarios import oil_worlds
from tests.scenarios.oil_worlds import TASKS, Built, Row, build_into, built, streams, view


@pytest.fixture(scope="module", autouse=True)
def built_worlds_are_removed() -> Iterator[None]:
    yield
    oil_worlds.remove_built()


@functools.lru_cache(maxsize=6)
def history(task: str) -> list[Stoppage]:
    facts = view(task).facts
    return periods.history(streams(task), facts, Hires(streams(task), facts)).stoppages()


def run(system: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=system, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


# ---- claims as the system wrote them ----


@pytest.mark.parametrize("task", ["original", "utc"])
def test_past_claims_are_row_by_row_what_the_system_as_found_writes(task: str) -> None:
    world = built(task)
    shown = world.table("claims_2026.csv")
    months = sorted({row["month"] for row in shown})
    for month in months[1:]:  # the extract may begin within a month
        out = world.folder / "rewritten" / month
        run(world.folder / "system", "npt.close", "--month", month, "--db", "var/npt.sqlite", "--out", str(out))
        written = {}
        for path in out.iterdir():
            for row in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")), delimiter=";"):
                claim_id = f"{row['rig_id']}/{month[2:4]}{month[5:]}-{int(row['line_no']):02d}"
                written[claim_id] = tuple(row[name] for name in ("start", "end", "equipment_tag", "hours", "evidence"))
        expected = {
            row["claim_id"]: tuple(row[name] for name in ("start", "end", "tag", "hours", "evidence"))
            for row in shown
            if row["month"] == month
        }
        assert written == expected


def test_the_database_is_what_ingest_makes_of_the_files(tmp_path: Path) -> None:
    world = build_into(tmp_path, "original")
    system = tmp_path / "system"
    drop = tmp_path / "drop"
    drop.mkdir()
    loader = "import sys; from npt import ingest\nfor drop in sys.argv[1:]: ingest.ingest(drop, 'var/again.sqlite')"
    folders = []
    for path in world.report_files():
        folder = drop / path.stem
        folder.mkdir()
        (folder / path.name).write_bytes(path.read_bytes())
        folders.append(str(folder))
    for name in ("rental_orders.csv", "equipment_register.csv"):
        (drop / folders[-1] / name).write_bytes((tmp_path / "data" / name).read_bytes())
    subprocess.run([sys.executable, "-c", loader, *folders], cwd=system, check=True, timeout=120)
    assert _tables(system / "var" / "again.sqlite") == _tables(system / "var" / "npt.sqlite")


def _tables(path: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(path)
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    tables = {name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall()) for name in names}
    connection.close()
    assert set(names) == {"ddr_line", "equipment", "rental_order"}
    return tables


# ---- the contractors' answers ----


def by_claim(world: Built) -> dict[tuple[str, str], list[Row]]:
    claims = defaultdict(list)
    for row in world.table("claims_2026.csv"):
        claims[row["rig_id"], row["month"]].append(row)
    return claims


@pytest.mark.parametrize("task", TASKS)
def test_one_disputed_line_holds_the_month_and_it_lapses_after_ninety_days(task: str) -> None:
    claims = by_claim(built(task))
    first = min(month for _, month in claims)
    for (_, month), lines in claims.items():
        if month == first:
            continue  # the extract may begin within the month
        disputed = any(row["response"] == "disputed" for row in lines)
        expected = ("lapsed" if month <= "2026-05" else "held") if disputed else "released"
        assert {row["month_status"] for row in lines} == {expected}


def test_nine_of_ten_claims_are_held() -> None:
    since_july = [lines for (_, month), lines in by_claim(built("original")).items() if month >= "2026-02"]
    held = [lines for lines in since_july if any(row["response"] == "disputed" for row in lines)]
    assert len(held) / len(since_july) > 0.85


def test_lines_on_hired_items_are_disputed_for_the_hire() -> None:
    """F6: the dispute reasons and the rental orders agree, the register does not."""
    world = built("original")
    orders = world.table("rental_orders.csv")
    register = {(row["rig_id"], row["tag"]): row["furnished_by"] for row in world.table("equipment_register.csv")}
    contradicted = 0
    for row in world.table("claims_2026.csv"):
        if "hire" in row["reason"] and row["response"] == "disputed":
            day = row["start"][:10]
            assert any(
                (order["rig_id"], order["tag"]) == (row["rig_id"], row["tag"])
                and order["on_hire"] <= day <= (order["off_hire"] or "9999")
                for order in orders
            )
            contradicted += register[row["rig_id"], row["tag"]] == "C"
    assert contradicted > 50


def test_lines_on_the_version_before_a_jointly_signed_one_are_disputed_and_before_a_one_sided_one_accepted() -> None:
    """F7 has its trace in the answers."""
    world = built("original")
    signed = {
        (row["report_id"], row["rev"]): bool(row["sign_operator"] and row["sign_contractor"]) for row in world.reports()
    }
    revised = {report for report, rev in signed if rev != "0"}
    joint = {report for (report, rev), both in signed.items() if rev != "0" and both}
    disputed = accepted = 0
    for row in world.table("claims_2026.csv"):
        report, _, rev = row["evidence"].partition("@")
        assert rev == "0"
        version = re.search("version", row["reason"])
        disputed += bool(version and report in joint)
        assert not version or report in joint
        accepted += row["response"] == "accepted" and report in revised - joint
    assert disputed > 15
    assert accepted > 5


def test_on_notice_every_line_since_july_is_rejected_for_want_of_notice_and_hardly_one_before() -> None:
    lines = built("notice").table("claims_2026.csv")
    since_july = [row for row in lines if row["month"] >= "2026-07"]
    assert all(row["response"] == "disputed" and "no notice under 14.3" in row["reason"] for row in since_july)
    before = [row for row in lines if row["month"] < "2026-07"]
    assert sum(row["response"] == "disputed" for row in before) / len(before) < 0.05


# ---- the contractors' tallies ----


@pytest.mark.parametrize("task", TASKS)
def test_tallies_follow_the_terms_in_force(task: str) -> None:
    credits = {
        (credit.stoppage.rig, credit.start.date().isoformat(), credit.stoppage.tag): credit
        for credit in reversed(ledger(history(task), view(task).facts))
    }
    own = 0
    for row in built(task).table("contractor_statements.csv"):
        credit = credits.get((row["rig_id"], row["date"], row["tag"]))
        if credit is None:
            assert row["tag"] in HIRED_TAGS
            assert (row["allowance_h"], row["credit_h"]) == ("0.00", "0.00")
            continue
        own += 1
        told = (float(row["gross_h"]), float(row["allowance_h"]), float(row["credit_h"]))
        assert told == pytest.approx((credit.gross_h, credit.allowance_h, credit.credit_h))
        assert row["month"] == row["date"][:7]
    assert own > 250


def test_tallies_of_the_summer_show_trips_own_use_and_recurrence() -> None:
    """F2, F3, F4 and F5 have their traces."""
    credits = {
        (credit.stoppage.rig, credit.start.date().isoformat(), credit.stoppage.tag): credit
        for credit in reversed(ledger(history("original"), view("original").facts))
    }
    traces = dict.fromkeys(("trips", "own use", "one and a half", "used up", "recurring"), 0)
    for row in built("original").table("contractor_statements.csv"):
        credit = credits.get((row["rig_id"], row["date"], row["tag"]))
        if credit is None or row["date"] < "2026-07-01":
            continue
        segments = credit.version.segments
        repair = sum(segment.hours for segment in segments if segment.part == "repair")
        traces["trips"] += float(row["gross_h"]) > repair
        traces["own use"] += any(segment.part == "own_use" for segment in segments)
        traces["one and a half"] += row["allowance_h"] == "1.50"
        traces["used up"] += row["allowance_h"] == "0.00" and credit.used_before_h == 6.0 and not credit.recurring
        traces["recurring"] += row["allowance_h"] == "0.00" and credit.recurring and credit.used_before_h < 6.0
    assert min(traces.values()) >= 5, traces


def test_tallies_are_a_fair_sample_of_long_and_short_stops() -> None:
    shown = {(row["rig_id"], row["date"], row["tag"]) for row in built("original").table("contractor_statements.csv")}
    stops = [
        stop
        for stop in history("original")
        if (stop.kind == "C" or stop.tag in HIRED_TAGS) and stop.versions[0].segments[0].start < datetime(2026, 9, 1)
    ]
    halves: dict[bool, list[bool]] = {True: [], False: []}
    for stop in stops:
        segments = stop.versions[0].segments
        key = (stop.rig, segments[0].start.date().isoformat(), stop.tag)
        halves[segments[-1].end - segments[0].start > (datetime(2026, 1, 2) - datetime(2026, 1, 1)) / 8].append(
            key in shown
        )
    shares = {long: sum(found) / len(found) for long, found in halves.items()}
    assert 0.6 < sum(shares.values()) / 2 < 0.76
    assert shares[True] == pytest.approx(shares[False], abs=0.1)


def test_in_the_side_letter_task_hollin_and_vantmar_go_on_with_twelve_hours_a_month() -> None:
    allowances = defaultdict(set)
    for row in built("side_letter").table("contractor_statements.csv"):
        if row["date"] >= date(2026, 7, 1).isoformat():
            allowances[contractor_of(row["rig_id"]) == "OK"].add(float(row["allowance_h"]))
    assert max(allowances[True]) == 1.5
    assert max(allowances[False]) > 2.0
