"""Deliveries in containers that the keeper makes: the same scores, and nothing left over whoever is killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from docker.api.client import APIClient

from fdegym.operations.readiness import check_keeper
from fdegym.operations.stuck import waiting_submissions
from fdegym.runs.models import RunState
from grading.attempt import attempt
from grading.deployment import SandboxDeployment, grade_spec
from grading.measure import Measured, measure, remove_leftovers
from grading.models import Submission, SubmissionState
from grading.queue import take_submission
from grading.replay import GradedReplay
from grading.services import grade_submission
from grading.worlds import deployment_runtime, ensure_world
from scenarios.kit.load import load_scenario
from tests.grading.sides import TINY
from tests.waiting import until
from tests.workspaces.keeper_process import KeeperProcess
from tests.workspaces.runtimes import IMAGE, runtime_of
from workspaces.keeper.client import KeeperClient
from workspaces.runtime.asked import FOLDER
from workspaces.runtime.base import CallLimits, Mount, SandboxSpec, SandboxState
from workspaces.runtime.docker import API_VERSION, LABEL, DockerRuntime
from workspaces.runtime.errors import HostFull, RuntimeUnusable, SandboxStartFailed
from workspaces.runtime.lent import LentContainers

pytestmark = pytest.mark.sandbox

#: Some evenings right, some wrong, some that fail, one that writes what nobody asked for: all that a replay tells apart.
UNEVEN = """
import sys
if sys.argv[-1].endswith("3"):
    sys.exit(3)
if sys.argv[-1].endswith("4"):
    open("/tmp/elsewhere", "w").write("x" * 100)
"""


@pytest.fixture(scope="module")
def keeper() -> Iterator[KeeperProcess]:
    """Of a host with Docker. Its directory is the site's own one, and every user may walk to it."""
    directory = Path(tempfile.mkdtemp(prefix="fg-", dir="/tmp"))
    tried = runtime_of("docker", directory / "tried")
    assert isinstance(tried, DockerRuntime)
    process = KeeperProcess(directory, FDEGYM_RUNTIME="docker", FDEGYM_DOCKER=tried.daemon)
    process.start()
    yield process
    process.end()
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def lent(keeper: KeeperProcess) -> LentContainers:
    """What the keeper sees, to look at."""
    var = keeper.state_dir.parent
    shown = [var / "grading-scratch", var / "gateway"]
    return LentContainers(var / FOLDER, image=IMAGE, daemon=keeper.environment["FDEGYM_DOCKER"], shown=shown)


@pytest.fixture
def containers(lent: LentContainers) -> Iterator[Callable[[], set[str]]]:
    """``containers()``: the sandboxes that have one, running or not. There are none before and after each test."""
    client = APIClient(base_url=lent.daemon, version=API_VERSION, timeout=60)

    def found() -> set[str]:
        rows = client.containers(all=True, filters={"label": f"{LABEL}.state={lent.mark}"})
        return {row["Labels"][f"{LABEL}.sandbox"] for row in rows}

    assert found() == set()
    yield found
    assert found() == set()
    assert list(lent.state_dir.glob("*/spec.json")) == []
    client.close()


@pytest.fixture
def in_containers(stall: Path, keeper: KeeperProcess, settings: Any) -> Path:
    """The stall's site grades in containers; the site's directory."""
    settings.VAR = keeper.state_dir.parent
    settings.SANDBOX_RUNTIME, settings.KEEPER_SOCKET = "docker", keeper.socket
    return Path(settings.VAR)


def a_system(place: Path, total: str) -> Path:
    """The stall's system with another ``total``."""
    system = Path(shutil.copytree(TINY / "system", place))
    (system / "shop" / "total.py").write_text(total)
    return system


def measured(system: Path, **callbacks: Any) -> Measured:
    return measure(ensure_world(load_scenario(TINY), "original"), system, **callbacks)


def but_for_times(replay: GradedReplay) -> GradedReplay:
    failures = {name: {**of_one, "cpu_s": 0.0} for name, of_one in replay.failures.items()}
    return replace(replay, cpu_s=0.0, wall_s=0.0, failures=failures)


def test_a_delivery_comes_to_exactly_the_same_in_both(
    in_containers: Path, containers: Callable[[], set[str]], settings: Any, tmp_path: Path
) -> None:
    """FC-92. The record says which it was, and who held it to its limits."""
    honest = (TINY / "solutions/reference/system/shop/total.py").read_text()
    system = a_system(tmp_path / "system", f"{UNEVEN}\n{honest}")
    seen: list[set[str]] = []
    docker = measured(system, progress=lambda *_: seen.append(containers()))
    settings.SANDBOX_RUNTIME = "bubblewrap"
    bubblewrap = measured(system)
    assert all(len(each) == 1 for each in seen), "it really was a container"
    assert docker.replay.failures["total"]["failures"] == {"exit": 1}
    assert but_for_times(docker.replay) == but_for_times(bubblewrap.replay)
    assert (docker.environment["sandbox"], bubblewrap.environment["sandbox"]) == ("docker", "bubblewrap")
    assert docker.environment["python"].startswith("3.")
    assert "memory by docker's cgroup" in docker.environment["limits"]
    assert "docker" not in bubblewrap.environment["limits"]


def test_a_replay_goes_on_without_the_keeper_and_its_container_goes_with_the_next_one(
    in_containers: Path, keeper: KeeperProcess, containers: Callable[[], set[str]], tmp_path: Path
) -> None:
    """FC-27, FC-82."""

    def kill_the_keeper(done: int, total: int, what: str) -> None:
        if done and keeper.process and keeper.process.poll() is None:
            keeper.end()

    honest = (TINY / "solutions/reference/system/shop/total.py").read_text()
    try:
        found = measured(a_system(tmp_path / "system", honest), progress=kill_the_keeper)
        assert found.replay.kpi == 10.0
        assert deployment_runtime().adopt({}) == []
        assert len(containers()) == 1, "nobody can remove it now; nothing runs in it"
    finally:
        keeper.start()
    until(lambda: not containers(), "the keeper looks after what was left")


def test_what_a_killed_worker_left_the_next_sweep_removes(
    in_containers: Path, keeper: KeeperProcess, containers: Callable[[], set[str]], tmp_path: Path
) -> None:
    """FC-88, FC-60."""
    script, marker = Path(__file__).with_name("replaying_process.py"), tmp_path / "stands-still"
    command = [sys.executable, str(script), str(in_containers), str(keeper.socket), str(marker)]
    worker = subprocess.Popen(command, env={**os.environ, "DJANGO_SETTINGS_MODULE": "fdegym.settings"})
    try:
        until(lambda: marker.exists() or worker.poll() is not None, "the worker comes there", within_s=60)
        assert worker.poll() is None
        assert remove_leftovers() == 0, "whoever is at work is left alone"
        assert len(containers()) == 1
    finally:
        worker.kill()
        worker.wait()
    assert remove_leftovers() == 1
    assert containers() == set()
    scratch = in_containers / "grading-scratch"
    assert not any(path.name.startswith(f"{worker.pid}-") for path in scratch.iterdir())


def test_where_no_worker_comes_back_the_keeper_removes_what_ended_by_itself(
    in_containers: Path, lent: LentContainers, containers: Callable[[], set[str]]
) -> None:
    """FC-60: the launcher gives up when nobody holds a connection to it any more."""
    runtime = deployment_runtime()
    sandbox = runtime.create("left", SandboxSpec(abandon_after_s=1.0))
    runtime.start("left").exec(["true"])
    lent.remove_left(older_than_s=0)
    assert sandbox.state() is SandboxState.RUNNING, "what lives is somebody's"
    sandbox.close_connections()
    until(lambda: not lent._living("left"), "it gives up; whoever asks itself is somebody who wants it")
    lent.remove_left()
    assert containers() == {"left"}, "a young one may be just about to start"
    lent.remove_left(older_than_s=0)
    assert containers() == set()


@pytest.mark.django_db(transaction=True)
def test_a_grade_that_no_keeper_makes_a_container_for_waits_and_no_attempt_is_counted(
    in_containers: Path, submit: Callable[..., Submission], alice: Any, settings: Any, tmp_path: Path
) -> None:
    """FC-93: as often as it may happen."""
    submission = submit(alice)
    settings.KEEPER_SOCKET = tmp_path / "nobody.sock"
    for _ in range(4):
        Submission.objects.update(not_before=None)
        taken = take_submission("w")
        assert taken is not None
        attempt(taken)
    submission.refresh_from_db()
    assert (submission.state, submission.attempts) == (SubmissionState.QUEUED, 0)
    assert submission.not_before is not None
    assert "It will be tried again" in submission.progress["what"]
    assert "start it" in submission.operator_detail
    assert submission.run.state == RunState.SUBMITTED
    Submission.objects.update(created_at=timezone.now() - timedelta(hours=1))
    (waits,) = waiting_submissions()
    assert waits.reason.startswith("No host could begin it.")
    assert "start it" in waits.reason
    with pytest.raises(RuntimeUnusable, match="start it"):
        grade_submission(submission)


def test_a_container_is_lent_to_nothing_but_what_lies_in_the_one_directory(
    in_containers: Path, keeper: KeeperProcess, containers: Callable[[], set[str]], tmp_path: Path
) -> None:
    """FC-75. What it is shown is production's drops and the socket of its gateway, and neither can be written."""
    runtime, scratch = deployment_runtime(), in_containers / "grading-scratch"
    scratch.mkdir(exist_ok=True)
    refused = {
        "else": Mount(tmp_path, "/srv/else"),
        "written": Mount(scratch, "/srv/drops", read_only=False),
        "link": Mount(scratch / "link", "/srv/drops"),
    }
    (scratch / "link").symlink_to(in_containers)
    for name, mount in refused.items():
        runtime.create(name, SandboxSpec(mounts=(mount,)))
        with pytest.raises(SandboxStartFailed, match="cannot be shown"):
            runtime.start(name)
        runtime.destroy(name)
    (scratch / "link").unlink()
    elsewhere = in_containers / "elsewhere"
    elsewhere.mkdir()
    (runtime.state_dir / "linked").symlink_to(elsewhere)
    for named in ("../elsewhere", "", "_uids", "linked", "nobody"):
        answer = refusal(keeper, named)
        assert "cannot be a sandbox's id" in answer or "no sandbox" in answer, answer
    (runtime.state_dir / "linked").unlink()


def refusal(keeper: KeeperProcess, sandbox_id: str) -> str:
    """What the keeper says when it is asked for a container of that sandbox."""
    said: list[dict[str, Any]] = []
    KeeperClient(keeper.socket, refuse=said.append).request("lend", sandbox=sandbox_id)
    return str(said[0]["error"])


def test_a_delivery_reads_drops_whatever_the_umask_of_its_worker_and_its_own_gateway(
    in_containers: Path, containers: Callable[[], set[str]]
) -> None:
    drops, gateway = in_containers / "grading-scratch" / "drops", in_containers / "gateway" / "g-1"
    for folder in (drops, gateway):
        folder.mkdir(parents=True)
        folder.chmod(0o755)
    runtime = deployment_runtime()
    runtime.create("one", grade_spec(load_scenario(TINY).config, TINY / "system", drops, {}, gateway))
    before = os.umask(0o077)
    try:
        deployment = SandboxDeployment(runtime.start("one"), drops)
        shown = deployment.put_drop("monday", {"a.txt": b"as brought", "deep/er/b.txt": b"too"})
    finally:
        os.umask(before)
    deployment.sandbox.put("/workspace/system/look.py", b"import sys\nfor n in sys.argv[1:]: print(open(n).read())")
    done = deployment.step(("python", "look.py", f"{shown}/a.txt", f"{shown}/deep/er/b.txt"), CallLimits())
    assert done.stdout.split() == [b"as", b"brought", b"too"]
    runtime.destroy("one")
    for folder in (drops, gateway):
        shutil.rmtree(folder)


def test_a_host_is_lent_no_more_than_its_containers(in_containers: Path, lent: LentContainers) -> None:
    runtime = deployment_runtime()
    full = LentContainers(lent.state_dir, image=IMAGE, daemon=lent.daemon, shown=[], living_max=0)
    runtime.create("one", SandboxSpec())
    with pytest.raises(HostFull, match="there may be no more"):
        full.launch("one")
    runtime.destroy("one")


def test_a_keeper_without_docker_lends_nothing_and_says_so(stall: Path, settings: Any) -> None:
    directory = Path(tempfile.mkdtemp(prefix="fg-", dir="/tmp"))
    process = KeeperProcess(directory)
    process.start()
    try:
        settings.VAR, settings.SANDBOX_RUNTIME, settings.KEEPER_SOCKET = directory, "docker", process.socket
        with pytest.raises(RuntimeUnusable, match="FDEGYM_RUNTIME=docker"):
            measured(TINY / "system")
        assert "FDEGYM_RUNTIME=docker" in check_keeper(), "it is not ready, and says why"
    finally:
        process.end()
        shutil.rmtree(directory, ignore_errors=True)
