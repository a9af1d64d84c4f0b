"""Deliveries that mean harm, in the real sandbox: each hurts its own evenings, and the grade always ends."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grading.deployment import deployed
from grading.replay import GradedReplay, replay_delivery
from grading.trusted import build_in_sandbox, scenario_side
from scenarios.kit.load import load_scenario
from tests.grading.sides import TINY, tiny_task
from workspaces.runtime.base import CallLimits
from workspaces.runtime.bubblewrap import BubblewrapRuntime

pytestmark = pytest.mark.sandbox

HONEST = (TINY / "solutions/reference/system/shop/total.py").read_text()
RECORD = (TINY / "system/shop/record.py").read_text()
INTO_THE_OUTBOX = """
import os, sys
os.makedirs("outbox", exist_ok=True)
name = f"outbox/total_{sys.argv[-1]}.txt"
"""
AS_FOUND_KPI, RIGHT_KPI, SILENT_KPI = -20.0, 10.0, 0.0


@pytest.fixture(scope="module")
def runtime(tmp_path_factory):
    made = BubblewrapRuntime(tmp_path_factory.mktemp("runtime"))
    problem = made.report().problem
    if problem:
        pytest.skip(problem)
    return made


@pytest.fixture
def play(runtime, tmp_path):
    """``play({"shop/total.py": text, ...}, **limits)``: replay the system as found with these files over it."""

    def run(files: dict[str, str], **limits) -> GradedReplay:
        system = tmp_path / "system"
        shutil.copytree(TINY / "system", system, ignore=shutil.ignore_patterns("__pycache__"))
        for name, text in files.items():
            (system / name).parent.mkdir(parents=True, exist_ok=True)
            (system / name).write_text(text)
        scenario, task = load_scenario(TINY), tiny_task()
        bounds = task.limits.model_copy(update={"call_cpu_s": 1, **limits})
        with (
            deployed(
                runtime, scenario.config, system, labels={"purpose": "grade"}, scratch=tmp_path / "s"
            ) as deployment,
            scenario_side(runtime, scenario) as (side, _),
        ):
            graded = replay_delivery(side, deployment, tiny_task(limits=bounds))
        assert runtime.adopt({"purpose": "grade"}) == []
        assert list((tmp_path / "s").iterdir()) == []
        return graded

    return run


def honest_but(first: str) -> dict[str, str]:
    """The right totals, after this."""
    return {"shop/total.py": f"{first}\n{HONEST}"}


def test_the_system_as_found_and_the_reference(play, tmp_path):
    assert play({}).kpi == AS_FOUND_KPI
    shutil.rmtree(tmp_path / "system")
    graded = play({"shop/total.py": HONEST})
    assert graded.kpi == RIGHT_KPI
    assert graded.cpu_s > 0


def test_a_delivery_that_crashes(play):
    graded = play({"shop/total.py": "import os\nos.abort()"})
    assert graded.kpi == SILENT_KPI
    assert graded.failures["total"]["failures"] == {"signal": 10}


def test_a_delivery_that_loops_is_given_up_after_five_times(play):
    """FC-91"""
    graded = play({"shop/total.py": "while True: pass"})
    assert graded.failures["total"]["failures"] == {"cpu_limit": 5, "given_up": 5}
    assert 4.0 <= graded.cpu_s <= 8.0


def test_a_delivery_that_loops_in_children_spends_its_own_seconds(play):
    looping = "import os\nos.fork()\nwhile True: pass"
    graded = play({"shop/total.py": looping}, replay_cpu_s=3)
    assert graded.kpi == SILENT_KPI
    assert graded.failures["total"]["failures"].get("replay_cpu_spent", 0) >= 5


def test_a_delivery_that_sleeps_meets_the_wall_clock(play):
    """FC-91, FC-97: blocks on its input, ignores SIGTERM; the reason names the wall clock."""
    ignoring = "import signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsys.stdin.read()\n"
    graded = play(honest_but(f"{ignoring}if '3' in sys.argv: time.sleep(60)"))
    assert graded.failures["total"]["failures"] == {"wall_limit": 1}
    assert graded.kpi == 9.0


def test_a_delivery_that_floods_its_output(play):
    graded = play(honest_but("for _ in range(200):\n    print('x' * 100_000)"))
    assert graded.kpi == RIGHT_KPI


def test_a_delivery_that_fills_its_disk(play):
    filling = """
import contextlib
with contextlib.suppress(OSError):
    for number in range(10_000):
        with open(f"fill{number}", "wb") as stream:
            stream.write(b"x" * 30_000_000)
"""
    graded = play(honest_but(filling), call_cpu_s=4)
    assert graded.kpi < RIGHT_KPI
    assert graded.calls == 20


def test_a_delivery_that_deletes_its_records(play):
    graded = play(honest_but("import shutil\nshutil.rmtree('book')"))
    assert graded.kpi == SILENT_KPI
    assert "FileNotFoundError" in graded.failures["total"]["first"]["stderr"]


def test_a_delivery_that_deletes_itself(play):
    graded = play(honest_but("import shutil\nshutil.rmtree('shop')"))
    assert graded.kpi == 1.0  # the first evening was already under way
    assert graded.failures["record"]["failed"] == 9
    assert graded.failures["total"]["failed"] == 9


@pytest.mark.parametrize("text", ["nan", "1e400", "\u0661\u0662", "1" * 99, "-", "\x00"])
def test_a_delivery_that_writes_nonsense(play, text):
    graded = play({"shop/total.py": f"{INTO_THE_OUTBOX}open(name, 'w').write({text!r})"})
    assert graded.kpi in (SILENT_KPI, AS_FOUND_KPI)
    assert graded.failures["total"]["failed"] == 0


@pytest.mark.parametrize(
    "placing",
    [
        "os.symlink('/etc/passwd', name)",
        "os.mkfifo(name)",
        "os.mkdir(name)",
        "open(name, 'wb').truncate(1 << 25)",
        "os.symlink(name, name)",
    ],
)
def test_an_output_that_is_no_plain_small_file_is_no_output(play, placing):
    text = (
        f"import os, sys\nos.makedirs('outbox', exist_ok=True)\nname = f'outbox/total_{{sys.argv[-1]}}.txt'\n{placing}"
    )
    graded = play({"shop/total.py": text})
    assert graded.kpi == SILENT_KPI


def test_a_folder_that_is_a_link_is_not_followed(play):
    graded = play(honest_but("import os\nos.path.exists('outbox') or os.symlink('/tmp', 'outbox')"))
    assert graded.kpi == SILENT_KPI


def test_a_drop_holds_what_was_brought_last_and_nothing_else(runtime, tmp_path):
    with deployed(
        runtime, load_scenario(TINY).config, TINY / "system", labels={}, scratch=tmp_path / "d"
    ) as deployment:

        def seen(name: str) -> str:
            step = deployment.step(("python", "look.py", f"/srv/production/{name}"), CallLimits(cpu_s=5))
            return step.stdout.decode()

        looking = "import pathlib, sys\nroot = pathlib.Path(sys.argv[1])\n"
        looking += "print(*sorted(f'{p.relative_to(root)}={p.read_text()}' for p in root.rglob('*') if p.is_file()))"
        deployment.put("look.py", looking.encode())
        assert deployment.put_drop("one", {"a": b"1", "deep/b": b"2", "c": b"long"}) == "/srv/production/one"
        assert seen("one") == "a=1 c=long deep/b=2\n"
        deployment.put_drop("one", {"c": b"3", "deep/e": b"4"})
        deployment.put_drop("two", {"x": b"5"})
        assert seen("one") == "c=3 deep/e=4\n"
        assert seen("two") == "x=5\n"
        deployment.put_drop("one", {})
        assert seen("one") == "\n"


def _link(state: Path) -> None:
    state.symlink_to("/dev/null")


def _file(state: Path) -> None:
    state.write_text("mine")


def _folder_in_place_of_the_file(state: Path) -> None:
    (state / "config.txt").mkdir(parents=True)


@pytest.mark.parametrize("place", [_link, _file, _folder_in_place_of_the_file])
def test_what_stands_where_production_writes_is_cleared_away(runtime, tmp_path, place):
    """Production's file comes first in a replay: the obstacle is delivered with the system."""
    system = tmp_path / "obstructed"
    shutil.copytree(TINY / "system", system)
    place(system / "state")
    with deployed(runtime, load_scenario(TINY).config, system, labels={}, scratch=tmp_path / "o") as deployment:
        deployment.put("state/config.txt", b"x")
        assert deployment.read("state/config.txt", 10) == b"x"
        assert deployment.list_files("state", 10) == ["config.txt"]


def test_a_file_whose_name_is_no_text_is_counted_like_any_other(play):
    """Who could make the grade void at will would throw away every bad one."""
    letter = "import os\nos.makedirs('outbox/letters', exist_ok=True)\nopen(b'outbox/letters/\\xff\\xfe', 'w')"
    graded = play(honest_but(letter))
    assert "letter_to_stranger" in [found.id for found in graded.incidents]


def test_a_fork_bomb_ends_with_its_call(play):
    bomb = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    graded = play({"shop/total.py": bomb, "shop/record.py": RECORD}, replay_cpu_s=6)
    assert graded.kpi == SILENT_KPI
    assert graded.calls == 20


def test_a_daemon_does_not_outlive_its_call(play):
    """FC-95: a background job that rewrites the result later."""
    daemon = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(0.01)
            try:
                os.makedirs("outbox/letters", exist_ok=True)
                open("outbox/letters/stranger", "w")
            except OSError:
                pass
    os._exit(0)
"""
    lasting = f"import sys\nif sys.argv[-1] == '9':\n    sys.exit(0)\n{daemon}"
    graded = play({"shop/total.py": f"{lasting}\n{HONEST}", "shop/record.py": RECORD})
    assert graded.calls == 20
    assert graded.kpi >= 9.0


@pytest.mark.parametrize(
    "attack",
    ["os.kill(os.getppid(), 9)", "os.kill(-1, 9)", "os.kill(1, 9)", "os.close(0); os.close(1); os.close(2)"],
)
def test_what_is_done_to_the_fork_server_is_its_own_calls_failure(play, attack):
    graded = play(honest_but(f"import os, sys\nif sys.argv[-1] == '4':\n    {attack}"))
    assert graded.calls == 20
    assert graded.kpi >= 9.0
    assert graded.failures["record"]["failed"] == 0


def test_a_delivery_that_eats_memory(play):
    graded = play(
        honest_but("import sys\nif sys.argv[-1] == '2':\n    hoard = [b'x' * 10_000_000 for _ in range(100)]")
    )
    assert graded.kpi == 9.0
    assert set(graded.failures["total"]["failures"]) <= {"exit", "memory_limit", "signal"}


def test_nothing_of_the_grader_is_readable_and_nothing_of_production_writable(play):
    """FC-95"""
    looking = """
import os, socket, sys
from pathlib import Path
found = []
for root in ("/", "/srv", "/workspace", "/proc/1/root/srv"):
    try:
        found += sorted({"app", "scenarios", "grading", "work", "data", "docs"} & set(os.listdir(root)))
    except OSError:
        pass
for name in os.listdir("/proc/self/fd"):
    try:
        found += [target for target in [os.readlink(f"/proc/self/fd/{name}")] if "scenario" in target or ".sock" in target]
    except OSError:
        pass
try:
    (Path("/srv/production/drop") / "sales.csv").write_text("amount\\n1\\n")
    found.append("drop written")
except OSError:
    pass
try:
    socket.create_connection(("1.1.1.1", 53), timeout=0.2)
    found.append("network")
except OSError:
    pass
for module in ("numpy", "django", "scenarios", "grading"):
    try:
        __import__(module)
        found.append(module)
    except ImportError:
        pass
if found:
    sys.exit(str(found))
"""
    graded = play(honest_but(looking))
    assert graded.failures["total"]["failures"] == {}, graded.failures["total"]["first"]
    assert graded.kpi == RIGHT_KPI


def test_planted_start_up_files_reach_nobody_but_the_delivery(play):
    """FC-95: ``sitecustomize``, ``conftest`` and a fake ``python`` in the delivered folder."""
    planted = "raise SystemExit('planted')"
    graded = play(
        {
            "shop/total.py": HONEST,
            "sitecustomize.py": planted,
            "usercustomize.py": planted,
            "conftest.py": planted,
            "python": "#!/bin/sh\nexit 7\n",
        }
    )
    assert graded.kpi == RIGHT_KPI


def test_the_scenario_cannot_reach_the_network_or_the_host(runtime, tmp_path):
    folder = tmp_path / TINY.name
    shutil.copytree(TINY, folder)
    (folder / "grader.py").write_text(
        """
import os, socket
from scenarios.kit.world import Outcome
def replay(production, host):
    seen = sorted(os.listdir("/srv/app/scenarios")) + sorted(os.listdir("/home"))
    try:
        socket.create_connection(("1.1.1.1", 53), timeout=0.2)
        seen.append("network")
    except OSError:
        pass
    try:
        open("/srv/app/scenarios/scenario_tiny/written", "w")
        seen.append("writable")
    except OSError:
        pass
    return Outcome(0.0, (), ({"kind": "facts", "title": "seen", "items": [[name, 1] for name in seen]},), "")
"""
    )
    scenario = load_scenario(folder)
    with (
        deployed(runtime, scenario.config, folder / "system", labels={}, scratch=tmp_path / "s") as deployment,
        scenario_side(runtime, scenario) as (side, _),
    ):
        graded = replay_delivery(side, deployment, tiny_task())
    seen = [name for name, _ in graded.breakdown[0]["items"]]
    assert seen == ["kit", "scenario_tiny", "engineer"]


def test_a_world_is_built_alike_in_the_sandbox_and_outside(runtime, tmp_path):
    from scenarios.kit.build import build

    for name in ("inside", "outside"):
        (tmp_path / name).mkdir()
    build_in_sandbox(runtime, load_scenario(TINY), "kept", "salt", tmp_path / "inside")
    build(TINY, "kept", "salt", tmp_path / "outside")
    assert (tmp_path / "inside/meta.json").read_bytes() == (tmp_path / "outside/meta.json").read_bytes()
