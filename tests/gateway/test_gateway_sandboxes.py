"""From real sandboxes through real sockets to a provider, and to nothing else: a workspace, a grading, a regrade."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.stack import CHECKOUT, clean_environment, own_directory
from tests.gateway.failing_providers import AnswersTheNumberOfTheCall, Provider, Refuses
from tests.gateway.site import KEY
from workspaces.services import sandbox_report

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
HERE = Path(__file__).parent


@pytest.fixture
def place() -> Iterator[Path]:
    report = sandbox_report()
    if not report.usable:
        pytest.skip(report.problem or "no sandbox")
    directory = own_directory("gws-")
    (directory / "scenarios").mkdir()
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


def played(place: Path, port: int, **further: str) -> dict[str, Any]:
    environment = clean_environment(
        FDEGYM_VAR=str(place / "v"),
        SCENARIO_DIRS=str(place / "scenarios"),
        PYTHONPATH=f"{CHECKOUT}:{CHECKOUT / 'platform'}",
        **further,
    )
    command = [sys.executable, str(HERE / "whole_gateway.py"), str(port)]
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def with_provider(provider: Provider) -> dict[str, str]:
    models = "small=0.15/0.6"
    chosen = {"FDEGYM_GATEWAY": "openai", "FDEGYM_GATEWAY_URL": provider.url, "FDEGYM_GATEWAY_MODELS": models}
    return {**chosen, "FDEGYM_GATEWAY_KEY": KEY}


def test_workspace_and_grade_reach_the_provider_through_their_sockets_and_nothing_else_of_the_network(
    place: Path,
) -> None:
    with Provider(AnswersTheNumberOfTheCall()) as provider:
        found = played(place, provider.port, **with_provider(provider))
        asked = list(provider.asked)
    assert found["asked"] == "answer 1 ['small']\n"
    assert found["reached"] == ["refused"] * 4 + ["['desk', 'gateway'] ['gateway.sock']"]
    assert found["work"] == [1, 12]
    # ten evenings, a call each: right totals only because the model answered
    (first, differs, use), (second, differs_again, use_again) = found["grades"]
    assert (first, second) == (10.0, 10.0)
    assert not differs
    assert not differs_again
    assert (use["calls"], use["kept"], use_again["calls"], use_again["kept"]) == (10, 0, 10, 10)
    assert use_again["nano"] == use["nano"] == 10 * (9 * 150 + 3 * 600)
    # one from the workspace and ten from the first grading; the regrade asked nobody
    assert len(asked) == 11
    assert found["audit"][0] == "so"
    files = [path for path in place.rglob("*") if path.is_file()]
    assert [path.name for path in files if KEY.encode() in path.read_bytes()] == []


def test_without_a_model_both_are_told_so_and_go_on(place: Path) -> None:
    found = played(place, 9)
    assert found["asked"] == "gateway_disabled 503\n"
    assert [grade[0] for grade in found["grades"]] == [0.0, 0.0]
    assert found["work"] == [0, 0]


def test_a_provider_that_fails_during_grading_is_no_deliverys_failure(place: Path) -> None:
    with Provider(Refuses(500)) as provider:
        found = played(place, provider.port, **with_provider(provider))
    assert "void" in found, found
    assert "provider_failed" in found["detail"]
    assert found["tries"] == 3
