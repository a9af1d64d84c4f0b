"""The queue of workspaces that are to start: in order of arrival, fair between people, so many at once, and never for ever.

The queue's own rules are tried with workspaces that start when the test says so; that the keeper keeps them, with real ones.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.test import Client
from django.urls import reverse
from keeper_process import KeeperProcess

from fdegym.accounts.models import User
from fdegym.delivery import begin, tasks
from tests.grading.sides import TINY
from tests.waiting import until
from workspaces import services
from workspaces.keeper import starting
from workspaces.keeper.capacity import Capacity, Room, most_mb
from workspaces.keeper.server import Keeper
from workspaces.keeper.starting import Start, StartQueue
from workspaces.keeper.upkeep import Upkeep
from workspaces.keeper.workspace import Workspace
from workspaces.materials import WorkspaceMaterials
from workspaces.places import PERSON, Place, Why
from workspaces.runtime.base import Limits, SandboxSpec, SandboxState
from workspaces.runtime.errors import HostFull, RuntimeUnusable, SandboxGone, SandboxMissing, SandboxStartFailed

HOUR = 3600.0


class Slow:
    """A workspace that starts when it is let, and then runs."""

    def __init__(self, run_id: str) -> None:
        self.run_id, self.person = run_id, ""
        self.found = SandboxState.GONE
        self.let = asyncio.Event()
        self.lock = asyncio.Lock()
        self.problem: Exception | None = None

    async def state(self) -> SandboxState:
        return self.found

    async def open(self, spec: SandboxSpec) -> None:
        await self.let.wait()
        if self.problem is not None:
            raise self.problem
        self.found = SandboxState.RUNNING

    def touch(self) -> None: ...

    @property
    def sandbox(self) -> Any:
        raise SandboxGone("it holds nothing that could be measured")


class Host:
    """A queue with room for ``places`` workspaces, of which ``at_once`` may start at once."""

    def __init__(self, places: int = 100, at_once: int = 2, each_person: int = 3) -> None:
        self.workspaces: dict[str, Slow] = {}
        self.places = places
        room = Room(Capacity(places, 10**9))
        room._fits = lambda wanted_mb: self.open() < self.places  # type: ignore[method-assign]
        known = cast(dict[str, Workspace], self.workspaces)
        self.queue = StartQueue(room, known, at_once=at_once, each_person=each_person)
        room._measure = self._measure  # type: ignore[method-assign]

    async def _measure(self, known: Any) -> None: ...

    def open(self) -> int:
        begun = sum(start.task is not None for start in self.queue._starts.values())
        return begun + sum(one.found is SandboxState.RUNNING for one in self.workspaces.values())

    async def ask(self, name: str, person: str = "", *, begun_at: float = 0.0, here: bool = True) -> dict[str, Any]:
        workspace = self.workspaces.setdefault(name, Slow(name))
        spec = SandboxSpec(labels={PERSON: person or name})
        start = await self.queue.ask(cast(Workspace, workspace), spec, begun_at=begun_at, capped=True, here=here)
        return self.queue.told(start)

    async def let(self, name: str) -> None:
        """Let one start, and the queue go on."""
        self.workspaces[name].let.set()
        await settled()

    async def stop(self, name: str) -> None:
        self.workspaces[name].found = SandboxState.STOPPED
        self.queue.wake()
        await settled()

    def starting(self) -> list[str]:
        return sorted(run_id for run_id, start in self.queue._starts.items() if start.task is not None)

    def order(self) -> list[str]:
        return [start.workspace.run_id for start in self.queue.in_order()]


async def settled() -> None:
    """Everything that can go on without anybody has gone on."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_so_many_start_at_once_and_the_others_are_told_how_many_are_before_them() -> None:
    """FC-79."""
    host = Host(at_once=2)
    for number in range(5):
        await host.ask(f"run{number}", begun_at=number)
    assert host.starting() == ["run0", "run1"]
    assert await host.ask("run1", begun_at=1) == {"state": "starting"}
    waits = {"state": "waiting", "why": "turn", "own": []}
    assert await host.ask("run4", begun_at=4) == {**waits, "before": 2}
    await host.let("run0")
    assert host.starting() == ["run1", "run2"]
    assert host.queue.place("run4") == {**waits, "before": 1}
    assert host.queue.place("run0") is None
    assert await host.ask("run0") == {"state": "running"}


async def test_the_order_is_that_of_the_runs_beginnings_whoever_asks_first() -> None:
    """As after a restart of the keeper, when pages ask again in any order (FC-62)."""
    host = Host(at_once=1)
    await host.ask("first", begun_at=0)
    for number in (3, 1, 4, 2):
        await host.ask(f"run{number}", begun_at=number)
    assert host.order() == ["run1", "run2", "run3", "run4"]


async def test_one_person_with_several_runs_holds_nobody_back() -> None:
    host = Host(at_once=1)
    await host.ask("first", begun_at=0)
    for number in range(1, 4):
        await host.ask(f"alice{number}", "alice", begun_at=number)
    await host.ask("bob1", "bob", begun_at=10)
    await host.ask("charlie1", "charlie", begun_at=11)
    await host.ask("bob2", "bob", begun_at=12)
    assert host.order() == ["alice1", "bob1", "charlie1", "alice2", "bob2", "alice3"]
    await host.let("first")
    await host.let("alice1")
    assert host.starting() == ["alice2"], "her next is her first one now, and older than his"


async def test_who_leaves_is_taken_out_and_so_is_who_has_not_asked_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(at_once=1)
    for number, name in enumerate(("first", "gone", "silent", "last")):
        await host.ask(name, begun_at=number)
    host.queue.leave("gone")
    assert host.queue.place("gone") is None
    host.queue._starts["silent"].asked_at -= starting.ABSENT_S
    await host.let("first")
    assert host.starting() == ["last"]
    assert host.order() == []
    assert (await host.ask("silent", begun_at=2))["before"] == 0, "she is back, and her place is that of her run"


async def test_without_room_everybody_waits_in_order_and_goes_on_by_herself() -> None:
    host = Host(places=1, at_once=2)
    await host.ask("first", begun_at=0)
    await host.let("first")
    assert await host.ask("second", begun_at=1) == {"state": "waiting", "why": "room", "before": 0, "own": []}
    assert (await host.ask("third", begun_at=2))["before"] == 1
    await host.stop("first")
    assert host.starting() == ["second"], "at once, not with the next look"
    assert host.queue.place("third") == {"state": "waiting", "why": "room", "before": 0, "own": []}


async def test_who_is_not_there_passes_nobody() -> None:
    """A sweep asks for runs whose pages are closed."""
    host = Host(at_once=1)
    await host.ask("first", begun_at=0)
    await host.ask("bob", begun_at=5)
    assert (await host.ask("closed", begun_at=1, here=False))["state"] == "waiting"
    assert host.order() == ["bob"]
    await host.let("first")
    await host.let("bob")
    assert await host.ask("closed", begun_at=1, here=False) == {"state": "starting"}


async def test_one_person_may_have_so_many_open_and_her_next_holds_nobody_back() -> None:
    host = Host(at_once=5, each_person=2)
    for number in (1, 2):
        await host.ask(f"alice{number}", "alice", begun_at=number)
        await host.let(f"alice{number}")
    told = await host.ask("alice3", "alice", begun_at=3)
    assert (told["why"], sorted(told["own"])) == ("own", ["alice1", "alice2"])
    assert await host.ask("bob", "bob", begun_at=4) == {"state": "starting"}
    await host.stop("alice1")
    assert host.queue.place("alice3") == {"state": "starting"}


async def test_of_two_tabs_that_ask_at_once_for_the_last_one_that_a_person_may_open_one_gets_it() -> None:
    """FC-67, FC-83: also while the first of them is only starting."""
    host = Host(at_once=5, each_person=1)
    told = await asyncio.gather(*(host.ask(f"tab{number}", "alice", begun_at=number) for number in range(4)))
    assert [one["state"] for one in told] == ["starting", "waiting", "waiting", "waiting"]
    assert [one.get("own") for one in told[1:]] == [["tab0"]] * 3
    assert host.starting() == ["tab0"]


async def test_a_workspace_that_waited_for_long_is_known_when_it_opens_at_last() -> None:
    """Else it would be neither its person's nor take room, and nobody would look after it."""
    host = Host(places=1, each_person=1)
    keeper = SimpleNamespace(workspaces=host.workspaces, starts=host.queue)
    await host.ask("first", begun_at=0)
    await host.let("first")
    await host.ask("alice1", "alice", begun_at=1)
    host.workspaces["asked about"] = Slow("asked about")
    for workspace in list(host.workspaces.values())[1:]:
        await Upkeep(cast(Keeper, keeper)).look(cast(Workspace, workspace))
    assert sorted(host.workspaces) == ["alice1", "first"], "what nobody waits for is forgotten"
    await host.stop("first")
    await host.let("alice1")
    host.places = 2
    assert (await host.ask("alice2", "alice", begun_at=2))["own"] == ["alice1"]


async def test_who_leaves_while_room_is_looked_for_is_not_started() -> None:
    """A workspace may take seconds to say what it holds."""
    host = Host()
    looks, found = asyncio.Event(), asyncio.Event()

    async def measure(known: Any) -> None:
        looks.set()
        await found.wait()

    host.queue._room._measure = measure  # type: ignore[method-assign]
    asking = asyncio.create_task(host.ask("gone"))
    await looks.wait()
    host.queue.leave("gone")
    found.set()
    assert (await asking)["state"] == "waiting"
    host.workspaces["gone"].let.set()
    await settled()
    assert host.workspaces["gone"].found is SandboxState.GONE


async def test_a_workspace_whose_folder_cannot_be_read_keeps_nobody_from_starting() -> None:
    """Written when the machine lost its power, say."""

    class Unreadable(Slow):
        async def blocking(self, call: Callable[[], Any]) -> Any:
            return call()

        @property
        def sandbox(self) -> Any:
            raise SandboxMissing("There is no sandbox of this id on this host.")

    room = Room(Capacity(1, 10**9))
    await room.take("run", Limits(), cast(dict[str, Workspace], {"broken": Unreadable("broken")}))
    assert room.held_mb() == most_mb(Limits())


async def test_a_failure_is_told_to_who_waits_for_it_or_else_to_who_asks_next_and_then_it_is_tried_anew() -> None:
    """FC-58, FC-71."""
    host = Host(at_once=1)
    broken = host.workspaces["run"] = Slow("run")
    broken.problem = SandboxStartFailed("No such image.")
    await host.ask("run")
    await host.let("run")
    with pytest.raises(SandboxStartFailed, match="No such image"):
        await host.ask("run")
    start = await host.queue.ask(cast(Workspace, broken), SandboxSpec(), begun_at=0, capped=True, here=True)
    with pytest.raises(SandboxStartFailed, match="No such image"):
        await host.queue.wait(start, HOUR)
    broken.problem = None
    await host.ask("run")
    await settled()
    assert await host.ask("run") == {"state": "running"}


async def test_a_host_that_can_start_nothing_now_fails_nobody() -> None:
    """Docker's daemon is restarted, say."""
    host = Host(at_once=1)
    away = host.workspaces["run"] = Slow("run")
    away.problem = RuntimeUnusable("Docker does not answer.")
    away.let.set()
    await host.ask("run")
    await settled()
    assert host.queue.place("run") == {"state": "waiting", "why": "host", "before": 0, "own": []}
    away.problem = None
    host.queue.wake()
    await settled()
    assert host.queue.place("run") is None
    assert away.found is SandboxState.RUNNING


async def test_figures_say_how_many_wait_and_how_long_the_oldest_has() -> None:
    host = Host(at_once=1)
    assert (host.queue.waiting(), host.queue.oldest_s()) == ([], 0.0)
    for number in range(3):
        await host.ask(f"run{number}", begun_at=number)
    waiting: list[Start] = host.queue.waiting()
    waiting[0].entered_at -= HOUR
    assert len(waiting) == 2
    assert HOUR <= host.queue.oldest_s() < 2 * HOUR


def test_words_say_what_is_in_the_way_where_one_stands_and_that_nothing_is_lost() -> None:
    assert Place(Why.TURN, 0).words == "You are next: your workspace then opens by itself."
    assert Place(Why.TURN, 1).words.startswith("1 other is before you")
    assert Place(Why.TURN, 3).words.startswith("3 others are before you")
    for why in (Why.ROOM, Why.HOST, Why.OWN):
        words = Place(why, 3, ("a-run",)).words
        assert words.startswith(Place(why).problem_words)
        assert "by itself" in words
        assert "Nothing of yours is lost." in words


# the keeper, with real workspaces


@pytest.mark.sandbox
@pytest.mark.parametrize("keeper", [("--workspaces", "1", "--each-person", "1")], indirect=True)
def test_the_keeper_goes_on_by_itself_and_its_restart_loses_nobodys_place(
    keeper: KeeperProcess, materials: WorkspaceMaterials, open_run: Callable[[], str]
) -> None:
    first, second, third = open_run(), str(uuid.uuid4()), str(uuid.uuid4())
    begun_at = time.time()

    def ask(run_id: str, after_s: float) -> Place | None:
        return services.ask_for_workspace(run_id, replace(materials, begun_at=begun_at + after_s))

    assert ask(second, 1) == Place(Why.ROOM, 0)
    assert ask(third, 2) == Place(Why.ROOM, 1)
    figures = services.keeper_figures()
    assert figures["starts_waiting"] == 2
    assert figures["starts_oldest_s"] > 0
    keeper.end()
    keeper.start()
    assert services.place_in_queue(second) is None, "what a page takes as a reason to ask again"
    assert ask(third, 2) == Place(Why.ROOM, 0)
    assert ask(second, 1) == Place(Why.ROOM, 0)
    assert services.place_in_queue(third) == Place(Why.ROOM, 1)
    services.destroy_workspace(first)
    until(lambda: services.workspace_state(second) == "running", "the next one opens though nobody asks")
    services.leave_queue(third)
    assert services.place_in_queue(third) is None
    with pytest.raises(HostFull, match="no room for another workspace"):
        services.open_workspace(third, materials)
    assert services.place_in_queue(third) is None, "who gives up leaves no place behind"


@pytest.mark.sandbox
@pytest.mark.parametrize("keeper", [("--each-person", "1")], indirect=True)
def test_the_keeper_knows_whose_workspaces_are_open_also_after_a_restart(
    keeper: KeeperProcess, materials: WorkspaceMaterials
) -> None:
    alices = replace(materials, person="7")
    mine, next_one = str(uuid.uuid4()), str(uuid.uuid4())
    services.open_workspace(mine, alices)
    keeper.end()
    keeper.start()
    assert services.ask_for_workspace(next_one, alices) == Place(Why.OWN, 0, (mine,))
    services.open_workspace(next_one, alices)  # what is graded or tried is not held up by what its person has open
    assert services.workspace_state(next_one) is SandboxState.RUNNING


# the whole way, from the button to the shell


@pytest.mark.sandbox
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("keeper", [("--workspaces", "1")], indirect=True)
def test_who_begins_on_a_full_host_waits_and_works_and_so_does_who_comes_back_to_it(
    keeper: KeeperProcess,
    open_run: Callable[[], str],
    state_dir: Path,
    alice: User,
    client: Client,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """FC-79: with everything real but the worker that builds her world, which is this test."""
    settings.SCENARIO_DIRS, settings.WORLD_CACHE = [TINY.parent], state_dir / "worlds"
    settings.DESK_DIR = state_dir / "desks"
    monkeypatch.setattr(begin, "wake", lambda *_: None)
    client.force_login(alice)
    others = open_run()

    run = begin.begin_run(alice, TINY.name, "L3")
    tasks.prepare(str(run.id))

    def told() -> dict[str, Any]:
        return dict(client.get(reverse("workbench_state", args=[run.id])).json())

    assert (told()["state"], told()["waiting"]["why"]) == ("preparing", "room")
    services.destroy_workspace(others)
    until(lambda: told()["state"] == "open", "it opens by itself")
    run.refresh_from_db()
    assert run.opened_at is not None
    assert run.opened_at > run.begun_at
    assert services.run_in_workspace(str(run.id), ["test", "-f", "/workspace/TASK.md"]).exit_status == 0

    def connect() -> int:
        address = reverse("workbench_ticket", args=[run.id])
        return int(client.post(address, {"terminal": 1}, content_type="application/json").status_code)

    client.post(reverse("workbench_stop", args=[run.id]))
    others = open_run()
    assert connect() == 503
    services.destroy_workspace(others)
    until(lambda: connect() == 200, "her workspace is back")
