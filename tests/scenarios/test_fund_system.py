"""fund_recon's system as found, and the deliveries: real calls on the first weeks of production."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenarios.fund_recon.grader.replay import OUTBOX, replay
from scenarios.fund_recon.world.calendars import DAYS
from scenarios.fund_recon.world.engine import EngineOfToday, Sent
from scenarios.fund_recon.world.production import Production
from scenarios.fund_recon.world.rules import Rules
from scenarios.fund_recon.world.trades import Trade
from scenarios.kit.solutions import overlays_of, solution_names, solutions_on
from scenarios.kit.world import Outcome
from tests.scenarios.fund_worlds import FOLDER, TASKS, production, scenario
from tests.scenarios.local_host import LocalHost

SYSTEM = FOLDER / "system"
WEEKS = 36  #: mornings: October, and the first two weeks that are measured


class FirstWeeks(Production):
    """The beginning of production."""

    def __init__(self, task: str, mornings: int = WEEKS) -> None:
        whole = production(task)
        self.__dict__.update(whole.__dict__)
        self.indices = range(whole.indices[0], whole.indices[0] + mornings)


def deploy(solution: str, task: str, folder: Path) -> LocalHost:
    system = folder / "system"
    shutil.copytree(SYSTEM, system, ignore=shutil.ignore_patterns("__pycache__", "var", "outbox"))
    for overlay in overlays_of(scenario(), task, solution):
        shutil.copytree(overlay, system, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return LocalHost(system)


def outputs(host: LocalHost) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((host.system / OUTBOX).iterdir())}


def play(solution: str, task: str, folder: Path, mornings: int = WEEKS) -> tuple[Outcome, LocalHost]:
    host = deploy(solution, task, folder)
    outcome = replay(FirstWeeks(task, mornings), host)
    assert host.failures == []
    return outcome, host


class WithoutHands(EngineOfToday):
    """What the engine sends by itself."""

    def _by_hand(self, trade: Trade, day: int, rules: Rules) -> Iterator[Sent]:
        yield from ()


@pytest.fixture(scope="module")
def as_found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, LocalHost]:
    return play("do_nothing", "original", tmp_path_factory.mktemp("as_found"))


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, LocalHost]:
    return play("reference", "original", tmp_path_factory.mktemp("reference"))


@pytest.mark.parametrize(
    ("solution", "task"),
    [("do_nothing", "original"), ("literal", "original"), ("reference", "original"), ("reference", "backed_out")],
)
def test_a_systems_own_tests_pass(solution: str, task: str, tmp_path: Path) -> None:
    host = deploy(solution, task, tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", "."], cwd=host.system, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()


def test_the_gateway_client_is_the_one_that_all_systems_have() -> None:
    kit = Path(__file__).parents[2] / "scenarios" / "kit" / "system" / "gateway.py"
    assert (SYSTEM / "recon" / "gateway.py").read_bytes() == kit.read_bytes()


def test_the_readme_says_nothing_of_what_has_to_be_found_out() -> None:
    text = (SYSTEM / "README.md").read_text(encoding="utf-8").lower()
    for hidden in ("traded one", "third business day", "fifth business day", "compensat", "clac", "original face"):
        assert hidden not in text
    for stated in ("60 s", "1 gib", "300 s", "once", "settled balance"):
        assert stated in text


def test_the_history_of_queries_is_what_this_engine_sends(as_found: tuple[Outcome, LocalHost]) -> None:
    period = FirstWeeks("original")
    engine = WithoutHands(period.market)
    expected: dict[str, set[str]] = {}
    for day in period.indices:
        now = period.market.morning(day)
        expected[f"actions_{DAYS[day].isoformat()}.csv"] = {one.ref for one in engine.queries(now, period.rules(day))}
    sent = {
        name: {line.split(";")[2] for line in data.decode().splitlines()[1:]}
        for name, data in outputs(as_found[1]).items()
    }
    every = set().union(*sent.values())
    assert len(every) > 200
    # a late file moves or hides a few queries of the engine; everything else is the same on the same morning
    assert len(every ^ set().union(*expected.values())) <= 0.05 * len(every)
    assert sum(len(sent[name] & expected[name]) for name in sent) >= 0.9 * len(every)


def test_the_engine_as_found_sees_no_fail_of_northgates_equities(as_found: tuple[Outcome, LocalHost]) -> None:
    rows = next(part["rows"] for part in as_found[0].breakdown if part["title"] == "By custodian and kind")
    (northgate,) = [row for row in rows if row[0] == "Northgate equities"]
    assert northgate[3] == "0"


def test_the_reference_queries_what_is_real_and_hardly_anything_else(
    as_found: tuple[Outcome, LocalHost], reference: tuple[Outcome, LocalHost]
) -> None:
    assert reference[0].kpi > as_found[0].kpi + 20
    rows = next(part["rows"] for part in reference[0].breakdown if part["title"].startswith("Queries"))
    counts = {row[0]: row[1] for row in rows}
    founded = counts["Founded, in time, with the right party"]
    assert founded > 20
    assert sum(counts.values()) - founded <= 0.05 * founded


def test_where_the_sponsor_is_right_the_literal_delivery_is_the_reference(tmp_path: Path) -> None:
    for name in ("literal", "reference"):
        (tmp_path / name).mkdir()
    literal, theirs = play("literal", "backed_out", tmp_path / "literal", 26)
    right, ours = play("reference", "backed_out", tmp_path / "reference", 26)
    assert literal.kpi == right.kpi
    assert outputs(theirs) == outputs(ours)


def test_each_line_has_a_sentence_without_the_gateway(reference: tuple[Outcome, LocalHost]) -> None:
    lines = [line for data in outputs(reference[1]).values() for line in data.decode().splitlines()[1:]]
    assert lines
    assert all(line.split(";")[6].endswith(".") and len(line.split(";")) == 7 for line in lines if ";CHASE;" in line)


def test_a_morning_that_fails_is_made_up_for_by_the_next(tmp_path: Path) -> None:
    host = deploy("reference", "original", tmp_path)
    broken, call = {DAYS[FirstWeeks("original").indices[4]].isoformat()}, host.call

    def failing(argv: list[str]):  # type: ignore[no-untyped-def]
        return call([*argv, "--nonsense"] if broken & set(argv) else argv)

    host.call = failing  # type: ignore[method-assign]
    outcome = replay(FirstWeeks("original", 8), host)
    assert len(host.failures) == 1
    assert outcome.breakdown[-1]["items"][1] == ["Runs that failed: exit", 1]
    assert len(outputs(host)) == 7


def test_every_solution_can_be_laid_out_on_every_task() -> None:
    for task in TASKS:
        for name in solutions_on(scenario(), task):
            assert all(path.is_dir() for path in overlays_of(scenario(), task, name))
    assert {"reference", "literal"} <= set(solution_names(scenario()))
