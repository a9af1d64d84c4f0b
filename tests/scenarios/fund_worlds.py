"""fund_recon's tasks for tests: the visible world built once each, and its files read back as a player does."""

from __future__ import annotations

import csv
import functools
import io
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from scenarios.fund_recon.grader.actions import Actions, Row
from scenarios.fund_recon.world import Production, build
from scenarios.kit.load import Scenario, load_scenario
from scenarios.kit.world import BuildResult, Streams, TaskView

FOLDER = Path(__file__).parents[2] / "scenarios" / "fund_recon"
TASKS = ("original", "backed_out", "orig_face", "broker_window", "depositary")
SALT = "tests"
LINE = dict[str, str]


@functools.lru_cache(maxsize=1)
def scenario() -> Scenario:
    return load_scenario(FOLDER)


def view(task_id: str) -> TaskView:
    return TaskView("fund_recon", task_id, scenario().facts_of(task_id))


def streams(task_id: str, salt: str = SALT) -> Streams:
    return Streams("fund_recon", task_id, salt)


def production(task_id: str, salt: str = SALT) -> Production:
    """A fresh one: it moves with every morning."""
    return Production(view(task_id), streams(task_id, salt))


@dataclass(frozen=True)
class Built:
    """A visible world on disk."""

    folder: Path
    result: BuildResult

    def text(self, name: str) -> str:
        data = (self.folder / "data" / name).read_bytes()
        return data.decode("cp1252" if name.endswith(".txt") else "utf-8")

    def table(self, name: str) -> list[LINE]:
        return list(csv.DictReader(io.StringIO(self.text(name))))

    def ngc_moves(self, day: str) -> list[LINE]:
        rows = self.text(f"ngc/ngc_moves_{day}.csv").partition("\n")[2]
        return list(csv.DictReader(io.StringIO(rows), delimiter=";"))

    def ngc_holdings(self, day: str) -> tuple[str, dict[tuple[str, str], int]]:
        """The basis of the equity section, and (account, ISIN) → quantity of all lines."""
        lines = self.text(f"ngc/ngc_holdings_{day}.csv").splitlines()
        rows = (line.split(";") for line in lines if ";" in line and not line.startswith("account"))
        return lines[0].rpartition("=")[2], {(account, isin): int(quantity) for account, isin, quantity in rows}

    def bdl_holdings(self, day: str) -> dict[tuple[str, str], tuple[int, str]]:
        """(account, ISIN) → quantity and the last column."""
        found = {}
        for line in self.text(f"bdl/bdl_holdings_{day}.txt").splitlines()[1:]:
            quantity = int(line[22:40].strip().removesuffix(",00"))
            found[line[:10].strip(), line[10:22].strip()] = quantity, line[40:48].strip()
        return found

    def book(self, day: str) -> dict[tuple[str, str], int]:
        rows = self.table(f"book/book_positions_{day}.csv")
        return {(row["account"], row["isin"]): int(row["traded_qty"]) for row in rows}


_built_folders: list[Path] = []


@functools.lru_cache(maxsize=8)
def built(task_id: str, salt: str = SALT) -> Built:
    folder = Path(tempfile.mkdtemp(prefix=f"fund_{task_id}_"))
    _built_folders.append(folder)
    (folder / "data").mkdir()
    return Built(folder, build(view(task_id), streams(task_id, salt), folder))


def remove_built() -> None:
    """Forget and delete every built world."""
    built.cache_clear()
    while _built_folders:
        shutil.rmtree(_built_folders.pop())


def chase(ref: str, party: str = "CUSTODIAN", kind: str = "TRADE", action: str = "CHASE") -> Row:
    return Row(kind, ref, action, party)


def actions(*rows: Row) -> Actions:
    return Actions(rows)
