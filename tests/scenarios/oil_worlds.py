"""oil_npt's tasks for tests: the visible world built once each, and the printed rows read back as a player reads them."""

from __future__ import annotations

import csv
import functools
import io
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from scenarios.kit.load import Scenario, load_scenario
from scenarios.kit.world import BuildResult, Streams, TaskView
from scenarios.oil_npt.world import Production, build

FOLDER = Path(__file__).parents[2] / "scenarios" / "oil_npt"
TASKS = ("original", "notice", "accept_test", "delegate", "side_letter", "utc")
SALT = "tests"

Row = dict[str, str]


@functools.lru_cache(maxsize=1)
def scenario() -> Scenario:
    return load_scenario(FOLDER)


def view(task_id: str) -> TaskView:
    return TaskView("oil_npt", task_id, scenario().facts_of(task_id))


def streams(task_id: str, salt: str = SALT) -> Streams:
    return Streams("oil_npt", task_id, salt)


@functools.lru_cache(maxsize=12)
def production(task_id: str, salt: str = SALT) -> Production:
    return Production(view(task_id), streams(task_id, salt))


@dataclass(frozen=True)
class Built:
    """A visible world on disk."""

    folder: Path
    result: BuildResult

    def table(self, name: str) -> list[Row]:
        return rows((self.folder / "data" / name).read_bytes())

    def reports(self) -> list[Row]:
        """All report lines of all files, in the order of the files, repeats included."""
        return [row for path in self.report_files() for row in rows(path.read_bytes())]

    def report_files(self) -> list[Path]:
        return sorted((self.folder / "data" / "ddr").iterdir())


@functools.lru_cache(maxsize=12)
def built(task_id: str, salt: str = SALT) -> Built:
    folder = Path(tempfile.mkdtemp(prefix=f"oil_{task_id}_"))
    _built_folders.append(folder)
    return build_into(folder, task_id, salt)


_built_folders: list[Path] = []


def remove_built() -> None:
    """Forget and delete every built world."""
    built.cache_clear()
    while _built_folders:
        shutil.rmtree(_built_folders.pop())


def build_into(folder: Path, task_id: str, salt: str = SALT) -> Built:
    shutil.copytree(
        FOLDER / "system", folder / "system", ignore=shutil.ignore_patterns("__pycache__", "*.pyc"), dirs_exist_ok=True
    )
    return Built(folder, build(view(task_id), streams(task_id, salt), folder))


def rows(data: bytes) -> list[Row]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def once(lines: Iterable[Row]) -> list[Row]:
    """Lines without the repeats of a drop."""
    return list({(row["report_id"], row["rev"], row["seq"]): row for row in lines}.values())


def by_report(lines: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """(report id, revision) → its lines in order."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in once(lines):
        found.setdefault((row["report_id"], row["rev"]), []).append(row)
    for report in found.values():
        report.sort(key=lambda row: int(row["seq"]))
    return found


def printed(row: Row) -> tuple[datetime, datetime]:
    """From when until when a line runs, as printed."""
    day = datetime.fromisoformat(row["report_date"])
    start, end = (day + timedelta(hours=int(row[name][:2]), minutes=int(row[name][3:])) for name in ("t_from", "t_to"))
    return start, end
