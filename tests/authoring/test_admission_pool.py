"""Workers of admission: whatever becomes of one of them, every item is over in the end and no process is left."""

from __future__ import annotations

import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from fdegym.authoring.admission import place as places
from fdegym.authoring.admission import pool
from fdegym.authoring.admission.pool import Agenda, Done, Worker, work_through
from fdegym.authoring.admission.progress import Progress
from fdegym.authoring.admission.store import Store
from fdegym.authoring.admission.work import ENDS, PLAY, Item
from tests.waiting import until


def item(name: str, *, task: str = "original", part: str = PLAY, seconds: float = 1.0) -> Item:
    return Item("toy", part, name, task, f"key-{name}", seconds)


@pytest.fixture
def place(tmp_path: Path, settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.WORLD_CACHE, settings.CACHE_DIR = tmp_path / "worlds", tmp_path / "cache"
    monkeypatch.setattr(pool, "WORKER", "tests.authoring.ending_worker")
    place = tmp_path / "admission"
    place.mkdir()
    return place


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list:
    """Every process that the pool starts."""
    processes: list = []
    start = places.start

    def starting(*arguments):
        processes.append(start(*arguments))
        return processes[-1]

    monkeypatch.setattr(pool, "start", starting)
    return processes


def worked(place: Path, *items: Item, jobs: int = 2) -> dict[str, Done]:
    return {done.item.name: done for done in work_through(items, place, jobs)}


def test_every_item_is_done_by_as_many_workers_as_there_may_be(place: Path, started: list) -> None:
    names = [f"play {number}" for number in range(20)]
    done = worked(place, *map(item, names), jobs=3)
    assert {name: one.result for name, one in done.items()} == {name: {"name": name} for name in names}
    assert len(started) <= 3
    assert all(process.poll() is not None for process in started)


def test_more_workers_than_items_are_not_started(place: Path, started: list) -> None:
    worked(place, item("one"), jobs=8)
    assert len(started) == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_item_of_a_worker_that_died_is_given_back_once(place: Path, jobs: int) -> None:
    done = worked(place, item("before"), item("ends once"), item("after"), jobs=jobs)
    assert {name: one.result for name, one in done.items()} == {
        name: {"name": name} for name in ("before", "ends once", "after")
    }


@pytest.mark.parametrize("name", ["ends", "half"])
def test_an_item_that_kills_its_workers_fails_in_words_and_the_others_go_on(place: Path, name: str) -> None:
    done = worked(place, item(name), *(item(f"play {number}") for number in range(4)))
    assert done[name].result is None
    assert "died, 2 times" in done[name].failed
    assert all(done[f"play {number}"].result for number in range(4))


def test_what_a_busy_machine_cannot_do_is_tried_again_after_everything_else(place: Path) -> None:
    going = work_through([item("busy twice", seconds=9.0), *(item(f"play {number}") for number in range(3))], place, 1)
    assert [(done.item.name, done.result is not None) for done in going] == [
        *((f"play {number}", True) for number in range(3)),
        ("busy twice", True),
    ]


def test_a_machine_that_stays_too_busy_is_said_so_in_the_end(place: Path) -> None:
    done = worked(place, item("busy"), item("play"))
    assert (done["busy"].result, done["busy"].failed, done["busy"].busy) == (None, "too busy", True)
    assert done["play"].result
    assert not done["play"].busy


def test_a_worker_that_says_nothing_is_ended(place: Path, started: list, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "ITEM_PATIENCE_S", 1.0)
    monkeypatch.setattr(pool, "KILL_PATIENCE_S", 0.1)
    done = worked(place, item("silent"), jobs=1)
    assert "died, 2 times" in done["silent"].failed
    assert all(process.poll() is not None for process in started)


def test_leaving_early_leaves_no_process(place: Path, started: list, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "END_PATIENCE_S", 0.5)
    going = work_through([item("first"), item("silent")], place, 2)
    assert next(going).item.name == "first"
    until(lambda: len(started) == 2, "both workers are there")
    going.close()
    assert all(process.poll() is not None for process in started)


def test_a_process_that_is_being_started_while_all_leave_is_ended_and_none_follows(
    place: Path, started: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, begun, go_on = pool.start, threading.Event(), threading.Event()

    def slow(*arguments):
        begun.set()
        assert go_on.wait(60)
        return start(*arguments)

    monkeypatch.setattr(pool, "start", slow)
    worker = Worker(place)
    with ThreadPoolExecutor(2) as threads:
        doing = threads.submit(worker.do, item("silent"))
        assert begun.wait(60)
        leaving = threads.submit(worker.leave)
        go_on.set()
        leaving.result(60)
        worker.end(0.1)
        assert doing.result(60) is None
    assert [process.poll() is not None for process in started] == [True]
    assert worker.do(item("another")) is None
    assert len(started) == 1


def test_many_workers_that_start_at_once_share_one_place(place: Path, settings) -> None:
    with ThreadPoolExecutor(16) as many:
        list(many.map(lambda _: places._shared(place), range(200)))
    assert sorted(path.name for path in place.iterdir()) == ["cache", "worlds"]
    assert (place / "cache").readlink() == Path(settings.CACHE_DIR)


# ---- the agenda


def test_the_longest_begin_first_and_plays_wait_for_the_ends_of_their_task() -> None:
    ends = item("ends of kept", task="kept", part=ENDS)
    agenda = Agenda([ends, item("long", task="kept", seconds=9), item("elsewhere", task="fee")])
    assert agenda.take() == ends
    assert agenda.take().name == "elsewhere"
    agenda.over(ends)
    assert agenda.take().name == "long"


def test_ends_that_could_not_be_measured_keep_nobody_waiting_for_ever() -> None:
    ends = item("ends of kept", task="kept", part=ENDS)
    agenda = Agenda([ends, item("play", task="kept")])
    agenda.take()
    assert agenda.give_back(ends)
    assert agenda.take() == ends
    assert not agenda.give_back(ends)
    agenda.over(ends)
    assert agenda.take().name == "play"


def test_whoever_waits_for_work_is_told_when_there_is_none_left() -> None:
    only = item("only")
    agenda = Agenda([only])
    assert agenda.take() == only
    waiting = threading.Thread(target=agenda.take)
    waiting.start()
    agenda.over(only)
    waiting.join(30)
    assert not waiting.is_alive()


# ---- what is kept


def test_a_result_is_found_again_under_its_key_and_no_other(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep(item("reference"), {"kpi": 2.5}, 3.21)
    assert Store(tmp_path).find(item("reference")) == {"kpi": 2.5}
    assert Store(tmp_path).find(replace(item("reference"), key="another")) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"seconds": 1}', "\x00"])
def test_a_broken_file_is_played_anew(tmp_path: Path, text: str) -> None:
    store = Store(tmp_path)
    store.keep(item("reference"), {"kpi": 2.5}, 3.21)
    (tmp_path / "kept" / "key-reference.json").write_text(text)
    assert store.find(item("reference")) is None


def test_durations_are_known_the_next_time(tmp_path: Path) -> None:
    Store(tmp_path).note_durations({"toy · kept · a": 2.04})
    Store(tmp_path).note_durations({"toy · kept · b": 1.0})
    assert Store(tmp_path).durations() == {"toy · kept · a": 2.0, "toy · kept · b": 1.0}
    (tmp_path / "durations.json").write_text("broken")
    assert Store(tmp_path).durations() == {}


# ---- how far it is


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress(stream: io.StringIO) -> Progress:
    times = iter(range(0, 1000, 30))
    return Progress(2, 40.0, stream, clock=lambda: next(times))


def test_in_a_pipe_every_piece_is_a_line_with_what_is_left() -> None:
    stream = io.StringIO()
    shown = progress(stream)
    shown.done("toy · kept · reference", 10.0, seconds=8.4)
    shown.done("toy · kept · literal", 30.0, seconds=9.0, failed="It was not graded.\nBecause.")
    shown.close()
    assert stream.getvalue().splitlines() == [
        "[1/2] toy · kept · reference, 8 s · elapsed 0:30, about 1:30 left",
        "[2/2] toy · kept · literal, 9 s: It was not graded. · elapsed 1:00, about 0:00 left",
    ]


def test_in_a_terminal_one_line_is_rewritten_and_what_failed_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    shown = progress(stream)
    shown.done("toy · kept · reference", 10.0, seconds=8.4)
    shown.done("toy · kept · literal", 30.0, seconds=9.0, failed="It was not graded.")
    shown.close()
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().endswith("\r\x1b[K")


def test_two_admissions_do_not_share_a_place(tmp_path: Path, settings) -> None:
    settings.VAR = tmp_path
    with places.alone() as place:
        assert place == tmp_path / "admission"
        with pytest.raises(places.AdmissionRunning), places.alone():
            pass
    with places.alone():
        pass


def test_an_admissions_processes_are_not_led_to_the_site(
    place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = {"DATABASE_URL": "postgres://site", "REDIS_URL": "redis://site", "FDEGYM_SOCKETS": "/run/site"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    process = places.start(place, "tests.authoring.telling_environment")
    said, _ = process.communicate(timeout=60)
    found = json.loads(said)
    assert not set(told) & set(found)
    assert found["FDEGYM_VAR"] == str(place)
    assert (place / "worlds").resolve() == tmp_path / "worlds"
