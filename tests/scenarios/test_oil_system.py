"""oil_npt's system as found: it runs as its README says, has the faults it is known for, and knows nothing more."""

from __future__ import annotations

import csv
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.kit.tables import csv_bytes
from scenarios.oil_npt.world import master_data
from scenarios.oil_npt.world.feed import COLUMNS
from scenarios.oil_npt.world.fleet import ALIASES, LISTED_TAGS, RIG_ALIASES
from tests.scenarios.oil_worlds import FOLDER

SYSTEM = FOLDER / "system"


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A copy with the tables that the world adds, and no database."""
    target = tmp_path / "system"
    shutil.copytree(SYSTEM, target, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "data").mkdir()
    (target / "data" / "equipment_alias.csv").write_bytes(master_data.alias_csv())
    (target / "data" / "contacts.csv").write_bytes(master_data.contacts_csv())
    return target


def call(system: Path, *arguments: str, expect: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-c", _START, *arguments], cwd=system, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == expect, done.stderr
    return done.stdout + done.stderr


#: ``python -m npt.x`` with nothing but the standard library and the system on the path
_START = (
    "import runpy, sys; sys.path[:] = ['.'] + [p for p in sys.path if 'site-packages' not in p];"
    " sys.argv = sys.argv[1:]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)


def report(
    *lines: tuple[str, str, str, int, str], report_id: str = "HD-11/2026-09-14", rev: int = 0, both: bool = True
) -> list[tuple[object, ...]]:
    """Rows of a report: (from, to, hours, operation code, remark)."""
    rig, day = report_id.split("/")
    return [
        (
            report_id, rig, "Kell 2, Slot 3", day, rev, f"{day}T23:50", "SG", "KM" if both else "", number, start, end,
            hours, code, "RPR", "8.5", "2900.0", "2900.0", remark,
        )
        for number, (start, end, hours, code, remark) in enumerate(lines, start=1)
    ]  # fmt: skip


def drop(system: Path, day: str, rows: list[tuple[object, ...]]) -> str:
    folder = system.parent / f"drop_{day}"
    folder.mkdir()
    (folder / f"ddr_{day}.csv").write_bytes(csv_bytes(COLUMNS, rows, byte_order_mark=True))
    return str(folder)


def ingest(system: Path, folder: str, expect: int = 0) -> str:
    return call(system, "npt.ingest", "--drop", folder, "--db", "var/npt.sqlite", expect=expect)


def claim(system: Path) -> list[dict[str, str]]:
    call(system, "npt.close", "--month", "2026-09", "--db", "var/npt.sqlite", "--out", "outbox/claims")
    with (system / "outbox" / "claims" / "claim_HD-11_202609.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


# ---- as its README says ----


def test_every_entry_point_runs_as_the_readme_names_it(system: Path) -> None:
    folder = drop(system, "20260914", report(("00:00", "24:00", "24.00", 8, "Repair TDS, c/o IBOP actuator")))
    assert "1 new lines" in ingest(system, folder)
    call(system, "npt.digest", "--date", "2026-09-14", "--db", "var/npt.sqlite", "--out", "outbox/mail")
    assert (system / "outbox" / "mail" / "digest_2026-09-14.txt").read_text() == "reports received: 1\n"
    assert claim(system)[0]["hours"] == "12.00"
    assert call(system, "npt.ask", "--question", "How deep?", "--db", "var/npt.sqlite") == "Not available.\n"
    for entry in ("ingest", "digest", "close", "ask"):
        assert "usage:" in call(system, f"npt.{entry}", "--help")


def test_its_own_tests_pass(system: Path) -> None:
    call(system, "unittest", "discover", "-s", "tests", "-t", ".")


def test_where_no_gateway_is_connected_its_client_says_so(system: Path) -> None:
    text = "from npt import gateway\ntry: gateway.complete('hello')\nexcept gateway.GatewayUnavailable as no: print(no.code)"
    nowhere = {**os.environ, "GATEWAY_SOCKET": str(system / "var" / "no.sock")}
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=system, capture_output=True, text=True, check=True, env=nowhere
    )
    assert done.stdout == "not_connected\n"


def test_a_month_without_reports_writes_no_claim(system: Path) -> None:
    output = call(system, "npt.close", "--month", "2031-01", "--db", "var/new.sqlite", "--out", "outbox/claims")
    assert "0 claims written" in output


def test_a_broken_drop_fails_and_loads_nothing(system: Path) -> None:
    folder = Path(drop(system, "20260914", report(("00:00", "24:00", "24.00", 8, "Repair TDS"))))
    (folder / "ddr_20260915.csv").write_text("report_id,rig_id\nHD-11/2026-09-15,HD-11\n")
    assert "Nothing of this drop was loaded" in ingest(system, str(folder), expect=1)
    connection = sqlite3.connect(system / "var" / "npt.sqlite")
    assert connection.execute("SELECT count(*) FROM ddr_line").fetchone() == (0,)
    connection.close()


def test_the_readme_names_every_column_call_and_limit() -> None:
    text = (SYSTEM / "README.md").read_text(encoding="utf-8")
    for column in COLUMNS:
        assert f"`{column}`" in text
    for words in ("60 s", "512 MiB", "300 s", "change_record.json", "Not used today", "GatewayUnavailable"):
        assert words in text
    assert "#STOP rig=HD-11 start=2026-11-03T02:15 end=2026-11-03T05:00 tag=TDS-1 hours=2.75" in text
    assert "line_no;rig_id;claim_month;start;end;equipment_tag;hours;status;clause;evidence;note" in text


def test_nothing_in_the_system_tells_a_hidden_rule() -> None:
    for path in SYSTEM.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            text = path.read_text(encoding="utf-8").lower()
            for hint in (
                "recurr",
                "fourteen",
                "14 days",
                "own use",
                "own purpose",
                "amendment",
                "both sign",
                "exhibit",
            ):
                assert hint not in text, (path.name, hint)


# ---- with the faults it is known for ----


def test_the_first_version_received_wins(system: Path) -> None:
    first = report(("00:00", "20:00", "20.00", 8, "Repair TDS"), ("20:00", "24:00", "4.00", 2, "Drill"))
    later = report(("00:00", "16:00", "16.00", 8, "Repair TDS"), ("16:00", "24:00", "8.00", 2, "Drill"), rev=1)
    ingest(system, drop(system, "20260914", first))
    ingest(system, drop(system, "20260917", later))
    row = claim(system)[0]
    assert (row["hours"], row["evidence"]) == ("8.00", "HD-11/2026-09-14@0")


def test_a_rented_shaker_is_the_contractors_by_its_word(system: Path) -> None:
    lines = report(("00:00", "20:00", "20.00", 8, "Repair shaker, new screens"), ("20:00", "24:00", "4", 2, "Drill"))
    ingest(system, drop(system, "20260914", lines))
    assert [(row["equipment_tag"], row["hours"]) for row in claim(system)] == [("SHK", "8.00")]


def test_trips_are_never_claimed_and_miscoded_service_and_losses_are(system: Path) -> None:
    lines = report(
        ("00:00", "02:00", "2.00", 6, "Stop drlg, TDS hyd leak. POOH to shoe f/ repair"),
        ("02:00", "14:00", "12.00", 8, "Repair TDS, c/o hyd hose, test OK"),
        ("14:00", "17:00", "3.00", 6, "RIH to btm"),
        ("17:00", "17:30", "0.50", 8, "Service TDS, grease washpipe"),
        ("17:30", "20:00", "2.50", 8, "Pumped 8 m3 LCM pill, inspect MP-1 suction"),
        ("20:00", "22:00", "2.00", 8, "MWD no pulses, cycle pumps"),
        ("22:00", "24:00", "2.00", 2, "Drill ahead"),
    )
    ingest(system, drop(system, "20260914", lines))
    assert [(row["equipment_tag"], row["hours"]) for row in claim(system)] == [("TDS-1", "0.50"), ("MP-1", "2.50")]


def test_keywords_know_every_name_of_every_item() -> None:
    with (SYSTEM / "config" / "keywords.csv").open(encoding="utf-8", newline="") as file:
        words = [(row["word"], row["party"]) for row in csv.DictReader(file)]
    names = [(alias, tag) for tag, aliases in ALIASES.items() for alias in aliases if alias != "CRT"]
    names += [(alias, tag) for _, alias, tag in RIG_ALIASES]
    for alias, tag in names:
        party = next((party for word, party in words if re.search(rf"\b{re.escape(word)}", alias.lower())), None)
        assert party == ("THIRD" if tag in LISTED_TAGS else "CONTRACTOR"), alias
