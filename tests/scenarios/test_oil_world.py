"""oil_npt's world as a whole: its size, its bytes, and that no task can be told from another by its shape."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from scenarios.kit.world import Streams
from scenarios.oil_npt.world import periods
from scenarios.oil_npt.world.fleet import CONTACTS, HIRED_TAGS, LISTED_TAGS, tags_of
from scenarios.oil_npt.world.hires import Hires
from scenarios.oil_npt.world.stoppages import RIGS
from tests.scenarios import oil_worlds
from tests.scenarios.oil_worlds import TASKS, built, production, rows, streams, view


@pytest.fixture(scope="module", autouse=True)
def built_worlds_are_removed() -> Iterator[None]:
    yield
    oil_worlds.remove_built()


# ---- size ----


@pytest.mark.parametrize("task", TASKS)
def test_the_visible_files_have_the_rows_that_the_customer_speaks_of(task: str) -> None:
    world = built(task)
    assert len(world.report_files()) == 273
    assert world.report_files()[0].name == "ddr_20260101.csv"
    assert world.report_files()[-1].name == "ddr_20260930.csv"
    counts = {name: len(world.table(f"{name}.csv")) for name in ("equipment_register", "rental_orders", "claims_2026")}
    assert counts == {"equipment_register": 214, "rental_orders": 61, "claims_2026": 1_250}
    assert len(world.table("contractor_statements.csv")) == 420
    assert len(world.table("equipment_alias.csv")) == 96
    assert len(world.table("contacts.csv")) == 19
    assert 23_000 < len(world.reports()) < 27_500


@pytest.mark.parametrize("task", TASKS)
def test_production_brings_the_periods_mornings_and_stops(task: str) -> None:
    coming = production(task)
    drops = list(coming.drops())
    assert [morning for morning, _ in drops] == [date(2026, 10, 2) + timedelta(days=day) for day in range(341)]
    assert len(coming.report_dates) == 335
    assert 140 <= len(list(coming.questions())) <= 147
    assert len(coming.graded_months) == 10
    graded = [stop for stop in coming.stoppages if stop.versions[0].segments[0].start.date() >= date(2026, 11, 1)]
    assert 1_290 <= len(graded) <= 1_400
    kinds = Counter("CO" if stop.kind in "CO" else stop.kind for stop in graded)
    assert [round(kinds[kind] / len(graded), 2) for kind in ("CO", "W", "H", "R")] == pytest.approx(
        [0.64, 0.16, 0.12, 0.08], abs=0.011
    )


@pytest.mark.parametrize("task", TASKS)
def test_drops_bring_the_day_before_and_master_data_on_mondays(task: str) -> None:
    for morning, files in production(task).drops():
        expected = {f"ddr_{morning - timedelta(days=1):%Y%m%d}.csv"}
        if morning.weekday() == 0:
            expected |= {"rental_orders.csv", "equipment_register.csv"}
        assert set(files) == expected


def test_drops_can_be_read_twice_with_the_same_bytes() -> None:
    coming = production("original")
    assert list(coming.drops()) == list(coming.drops())


# ---- bytes ----

_HASH = """
import hashlib, sys, tempfile
from pathlib import Path
from tests.scenarios.oil_worlds import build_into, production
digest = hashlib.sha256()
with tempfile.TemporaryDirectory() as name:
    world = build_into(Path(name), sys.argv[1])
    for path in sorted(Path(name).rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(name).as_posix().encode() + path.read_bytes())
    digest.update(repr(world.result).encode())
coming = production(sys.argv[1])
for morning, files in coming.drops():
    digest.update(repr((morning, sorted(files.items()))).encode())
digest.update(repr((coming.stoppages, coming.earlier_stoppages, list(coming.questions()))).encode())
print(digest.hexdigest())
"""


@pytest.mark.parametrize("task", ["original", "utc"])
def test_two_processes_with_other_hash_seeds_write_the_same_bytes(task: str) -> None:
    root = Path(__file__).parents[2]
    hashes = set()
    for seed in ("1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{root}:{root / 'platform'}"}
        environment["NPY_DISABLE_CPU_FEATURES"] = "AVX2 FMA3" if seed == "1" else ""
        made = subprocess.run(
            [sys.executable, "-c", _HASH, task], env=environment, cwd=root, capture_output=True, text=True, check=True
        )
        hashes.add(made.stdout)
    assert len(hashes) == 1


def test_another_salt_gives_another_world_and_another_task_too() -> None:
    def digest(task: str, salt: str) -> str:
        return hashlib.sha256(built(task, salt).report_files()[40].read_bytes()).hexdigest()

    assert len({digest("original", "tests"), digest("original", "other"), digest("delegate", "tests")}) == 3


# ---- what must not be told ----


def test_tasks_cannot_be_told_apart_by_names_sizes_or_rows() -> None:
    shapes = {task: _shape(built(task).folder) for task in TASKS}
    original = shapes["original"]
    for task, shape in shapes.items():
        assert set(shape) == set(original), task
        for name, size in shape.items():
            assert size == pytest.approx(original[name], rel=0.02, abs=60), (task, name)


def _shape(folder: Path) -> dict[str, int]:
    """Sizes by file; the daily reports together, for a single day has many lines or few."""
    sizes = {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "ddr" and path.suffix != ".sqlite"
    }
    sizes["ddr"] = sum(path.stat().st_size for path in (folder / "data" / "ddr").iterdir())
    sizes["names"] = len(list((folder / "data" / "ddr").iterdir()))
    return sizes


def test_tables_have_the_published_columns_and_no_other() -> None:
    headers = {
        path.name: path.read_bytes().split(b"\n", 1)[0].decode("utf-8-sig")
        for path in [*(built("original").folder / "data").glob("*.csv"), built("original").report_files()[-1]]
    }
    assert headers == {
        "ddr_20260930.csv": "report_id,rig_id,well,report_date,rev,issued_at,sign_operator,sign_contractor,seq,t_from,"
        "t_to,hours,op_code,sub_code,phase,hole_depth_m,bit_depth_m,remark",
        "equipment_register.csv": "rig_id,tag,description,furnished_by,from_date,to_date",
        "rental_orders.csv": "order_no,rig_id,tag,description,vendor,payer,on_hire,off_hire",
        "equipment_alias.csv": "rig_id,alias,tag",
        "claims_2026.csv": "claim_id,rig_id,month,start,end,tag,hours,evidence,response,reason,month_status",
        "contractor_statements.csv": "rig_id,month,date,tag,gross_h,allowance_h,credit_h,remark",
        "contacts.csv": "name,role,rig,email",
    }


def test_no_visible_file_names_the_task() -> None:
    words = re.compile(r"\b(accept_test|delegate|side_letter|utc|heldout|variant|original)\b")
    for task in TASKS:
        for path in (built(task).folder / "data").rglob("*.csv"):
            assert not words.search(path.read_text(encoding="utf-8").lower()), path.name


# ---- whose item it is ----


@pytest.mark.parametrize("task", [task for task in TASKS if task != "notice"])
def test_an_operators_stop_is_on_a_listed_item_or_a_running_order(task: str) -> None:
    coming = production(task)
    hires = Hires(streams(task), view(task).facts)
    for stop in coming.stoppages:
        day = stop.versions[0].segments[0].start.date()
        if stop.kind == "O":
            assert stop.tag in LISTED_TAGS or hires.is_operators(stop.rig, stop.tag, day)
        elif stop.kind == "C":
            assert not hires.is_operators(stop.rig, stop.tag, day)
            assert not hires.near_change(stop.rig, stop.tag, day)
        assert stop.tag in {*coming.tags(stop.rig), ""}
    both = {(stop.rig, stop.tag) for stop in coming.stoppages if stop.kind == "C" and stop.tag in HIRED_TAGS} & {
        (stop.rig, stop.tag) for stop in coming.stoppages if stop.kind == "O"
    }
    assert len(both) >= 3, "the same item can be the contractor's in one month and the operator's in the next"


def test_orders_known_at_the_close_tell_the_truth_of_the_month() -> None:
    """The Monday before the eighth knows every hire of the month before."""
    coming = production("original")
    files = {morning: drop["rental_orders.csv"] for morning, drop in coming.drops() if "rental_orders.csv" in drop}
    for stop in coming.stoppages:
        if stop.tag not in HIRED_TAGS:
            continue
        day = stop.versions[0].segments[0].start.date()
        eighth = (day.replace(day=1) + timedelta(days=32)).replace(day=8)
        known = rows(files[max((morning for morning in files if morning <= eighth), default=min(files))])
        running = [
            order
            for order in known
            if (order["rig_id"], order["tag"]) == (stop.rig, stop.tag)
            and order["on_hire"] <= day.isoformat() <= (order["off_hire"] or "9999")
        ]
        assert bool(running) == (stop.kind == "O")


def test_on_notice_the_contractor_pays_the_hire_and_owns_every_rented_item() -> None:
    orders = built("notice").table("rental_orders.csv")
    assert {order["payer"] == "TBE" for order in orders if order["tag"] in HIRED_TAGS} == {False}
    assert {order["payer"] for order in built("original").table("rental_orders.csv")} == {"TBE"}
    assert not [stop for stop in production("notice").stoppages if stop.kind == "O" and stop.tag in HIRED_TAGS]


def test_the_register_calls_most_rented_items_the_contractors() -> None:
    register = {
        (row["rig_id"], row["tag"]): row["furnished_by"] for row in built("original").table("equipment_register.csv")
    }
    rented = {
        (order["rig_id"], order["tag"])
        for order in built("original").table("rental_orders.csv")
        if order["tag"] in HIRED_TAGS and not order["off_hire"]
    }
    wrong = [pair for pair in rented if register[pair] == "C"]
    assert len(rented) >= 25
    assert len(wrong) / len(rented) > 0.7


# ---- the process ----


@pytest.mark.parametrize("task", ["original", "notice"])
def test_no_failure_recurs_at_a_debatable_distance(task: str) -> None:
    coming = production(task)
    last: dict[tuple[str, str], float] = {}
    for stop in sorted(
        [*coming.earlier_stoppages, *coming.stoppages], key=lambda stop: stop.versions[0].segments[0].start
    ):
        if stop.kind == "C":
            segments = stop.versions[0].segments
            before = last.get((stop.rig, stop.tag))
            days = None if before is None else (segments[0].start.timestamp() - before) / 86_400
            assert days is None or not 13.5 < days < 15.0
            last[stop.rig, stop.tag] = segments[-1].end.timestamp()


def test_stops_of_a_rig_never_touch_in_any_version() -> None:
    coming = production("original")
    for rig in RIGS:
        stops = sorted((stop for stop in coming.stoppages if stop.rig == rig), key=lambda stop: stop.report_dates)
        spans = sorted(
            (
                min(version.segments[0].start for version in stop.versions),
                max(version.segments[-1].end for version in stop.versions),
            )
            for stop in stops
        )
        assert all(earlier[1] < later[0] for earlier, later in itertools.pairwise(spans))


def test_a_quarter_of_stops_trip_with_own_use_in_a_third_of_them() -> None:
    stops = [stop for stop in production("original").stoppages if stop.kind == "C" and stop.tag not in HIRED_TAGS]
    tripping = [stop for stop in stops if stop.versions[0].segments[0].part == "trip_out"]
    using = [stop for stop in tripping if any(part.part == "own_use" for part in stop.versions[0].segments)]
    assert len(tripping) / len(stops) == pytest.approx(0.55, abs=0.02)
    assert len(using) / len(tripping) == pytest.approx(0.32, abs=0.03)


def test_rigs_move_six_times_in_the_visible_months() -> None:
    for salt in ("a", "b", "c"):
        facts = view("original").facts
        with_salt = Streams("oil_npt", "original", salt)
        assert periods.history(with_salt, facts, Hires(with_salt, facts)).moves == 6


def test_contacts_have_one_rig_manager_of_the_contractor_for_each_rig() -> None:
    managers = {contact.rig: contact for contact in CONTACTS if contact.role == "Rig Manager"}
    assert set(managers) == set(RIGS)
    assert all(contact.contractor == rig[:2] for rig, contact in managers.items())
    assert len({contact.email for contact in CONTACTS}) == 19


def test_examples_and_records_exist_in_the_visible_data() -> None:
    for task in TASKS:
        world = built(task)
        claims = {row["claim_id"]: row for row in world.table("claims_2026.csv")}
        tally = {(row["rig_id"], row["date"], row["tag"]): row for row in world.table("contractor_statements.csv")}
        facts, records = world.result.facts, world.result.records
        assert json.dumps(dict(facts))
        assert facts["ex_recur"] in claims
        assert facts["ex_recur"].startswith("HD-")
        assert claims[facts["ex_recur"]]["month"] == "2026-07"
        contested = claims[facts["ex_contested"]]
        assert (contested["rig_id"], contested["month"], contested["tag"]) == ("OK-5", "2026-08", "SHK")
        assert contested["response"] == "disputed"
        expected = "no notice under 14.3" if task == "notice" else "hire"
        assert expected in contested["reason"]
        key = (facts["ex_statement_rig"], facts["ex_statement_date"], facts["ex_statement_tag"])
        assert key in tally
        assert key[0][:2] in ("HD", "VM")
        assert key[1] >= "2026-07-01"
        assert set(records["claim_line"]) == set(claims)
        assert set(records["statement"]) == {"|".join(key) for key in tally}
        assert set(records["rental_order"]) == {row["order_no"] for row in world.table("rental_orders.csv")}
        assert set(records["report"]) == {row["report_id"] for row in world.reports()}
        groups = world.result.record_groups
        assert facts["ex_feed_report"] in groups["hd_vm_since_august"]["report"]
        assert "|".join(key) in groups["hd_vm_since_july"]["statement"]
        assert facts["ex_recur"] in groups["hd_vm_since_july"]["claim_line"]


def test_every_rigs_tags_are_in_the_register() -> None:
    register = built("original").table("equipment_register.csv")
    for rig in RIGS:
        assert {row["tag"] for row in register if row["rig_id"] == rig} == set(tags_of(rig))
