"""Working through items with several worker processes, whatever becomes of one of them.

The longest begin first; what depends on the ends of a task waits for them. An item whose worker dies, or that came to
nothing because the machine was too busy, is given back a few times. Each result is handed on the moment it is there.
Leaving the pool, also by an interrupt, leaves no process behind.
"""

from __future__ import annotations

import contextlib
import json
import queue
import select
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fdegym.authoring.admission.place import start
from fdegym.authoring.admission.work import ENDS, Item
from fdegym.lib.errors import FdegymError

WORKER, HOST = "fdegym.authoring.admission.worker", "fdegym.authoring.admission.host"
ITEM_PATIENCE_S = 3600.0  #: longest that a worker may be silent over one item
HOST_PATIENCE_S = 1200.0  #: for one step of the services' start; fitting a matcher is the longest
END_PATIENCE_S = 45.0
KILL_PATIENCE_S = 5.0  #: for one that answers no more
TRIES = 2
TRIES_WHEN_BUSY = 4


class HostFailed(FdegymError):
    """Admission's own services did not start."""

    http_status = 503


@dataclass(frozen=True, slots=True)
class Done:
    """An item that is over: its result, or in words why there is none; ``busy``: this hour's host is why."""

    item: Item
    result: dict[str, Any] | None
    failed: str
    seconds: float
    busy: bool = False


@dataclass
class Agenda:
    """What is left to do, under one lock: the items in order, and the tasks whose ends are known."""

    waiting: list[Item]
    left: int = 0
    ended: set[tuple[str, str]] = field(default_factory=set)
    tried: dict[Item, int] = field(default_factory=dict)
    stopped: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self.left = len(self.waiting)
        self.ended = {(item.scenario, item.task) for item in self.waiting}
        self.ended -= {(item.scenario, item.task) for item in self.waiting if item.part == ENDS}

    def take(self) -> Item | None:
        """The next item that nothing keeps waiting; None when all is over."""
        with self.changed:
            while self.left and not self.stopped:
                for item in self.waiting:
                    if item.part == ENDS or (item.scenario, item.task) in self.ended:
                        self.waiting.remove(item)
                        self.tried[item] = self.tried.get(item, 0) + 1
                        return item
                self.changed.wait()
            return None

    def give_back(self, item: Item, *, later: bool = False) -> bool:
        """Whether the item is tried once more: at once, or ``later``, when all the others are under way."""
        with self.changed:
            again = self.tried[item] < (TRIES_WHEN_BUSY if later else TRIES) and not self.stopped
            if again:
                self.waiting.insert(len(self.waiting) if later else 0, item)
                self.changed.notify_all()
            return again

    def over(self, item: Item) -> None:
        """The item has its result, or none ever. Work that waited for ends goes on also when they could not be had:
        it will meet the same problem and say it."""
        with self.changed:
            self.left -= 1
            if item.part == ENDS:
                self.ended.add((item.scenario, item.task))
            self.changed.notify_all()

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()


class Worker:
    """One worker process; started again when it died."""

    def __init__(self, place: Path, *arguments: str) -> None:
        self._place, self._arguments = place, arguments
        self._process: subprocess.Popen[str] | None = None
        self._starting = threading.Lock()
        self._left = False  #: none is started any more

    def do(self, item: Item) -> dict[str, Any] | None:
        """The worker's answer; None when the process died over the item, or was silent for too long and was ended."""
        with self._starting:
            if self._left:
                return None
            if self._process is None or self._process.poll() is not None:
                self._process = start(self._place, WORKER, *self._arguments)
        assert self._process.stdin is not None  # noqa: S101 - pipes were asked for
        assert self._process.stdout is not None  # noqa: S101
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(item.as_json()) + "\n")
            self._process.stdin.flush()
            ready, _, _ = select.select([self._process.stdout], [], [], ITEM_PATIENCE_S)
            line = self._process.stdout.readline() if ready else ""
            if line.endswith("\n"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        self.end(KILL_PATIENCE_S)
        return None

    def dismiss(self) -> None:
        """Say that there is nothing more to do; a play that is under way is broken off and cleared away."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._process.stdin.close()

    def leave(self) -> None:
        """Dismiss it for good: a process that is just being started is dismissed as well, and no other follows."""
        with self._starting:
            self._left = True
            self.dismiss()

    def end(self, patience_s: float) -> None:
        self.dismiss()
        if self._process is not None:
            end(self._process, patience_s)


def end(process: subprocess.Popen[str], patience_s: float) -> None:
    """Wait for a process that has been told to end; kill it when it does not."""
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


@contextlib.contextmanager
def services(place: Path, spoken_to: Iterable[str], told: Callable[[str], None]) -> Iterator[None]:
    """Database, desk and keeper of admission, for as long as the block runs; the matchers of those scenarios are fitted.

    Raises ``HostFailed``.
    """
    process = start(place, HOST, *spoken_to)
    assert process.stdout is not None  # noqa: S101 - pipes were asked for
    assert process.stdin is not None  # noqa: S101
    try:
        while True:
            ready, _, _ = select.select([process.stdout], [], [], HOST_PATIENCE_S)
            line = process.stdout.readline() if ready else ""
            row = json.loads(line) if line.endswith("\n") else {"problem": "Admission's own services did not start."}
            if "problem" in row:
                raise HostFailed(f"{row['problem']} Their log is {place / 'logs' / 'host.log'}.")
            if "ready" in row:
                break
            told(row["step"])
        yield
    finally:
        with contextlib.suppress(OSError):
            process.stdin.close()
        end(process, END_PATIENCE_S)


def work_through(items: Iterable[Item], place: Path, jobs: int) -> Iterator[Done]:
    """Do all items with that many workers; each as soon as it is over, in whatever order. Needs ``services``."""
    agenda = Agenda(sorted(items, key=lambda item: (item.part != ENDS, -item.seconds)))
    over: queue.Queue[Done | BaseException] = queue.Queue()
    count = agenda.left
    workers = [Worker(place) for _ in range(max(1, min(jobs, count)))]
    threads = [threading.Thread(target=_serve, args=(agenda, worker, over), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        for _ in range(count):
            done = over.get()
            if isinstance(done, BaseException):
                raise done
            yield done
    finally:
        agenda.stop()
        for worker in workers:
            worker.leave()
        for worker, thread in zip(workers, threads, strict=True):
            worker.end(END_PATIENCE_S)
            thread.join()


def _serve(agenda: Agenda, worker: Worker, over: queue.Queue[Done | BaseException]) -> None:
    """One worker's thread: items one after the other, until there are no more."""
    try:
        while (item := agenda.take()) is not None:
            answer = worker.do(item)
            if answer is None:
                if agenda.give_back(item):
                    continue
                words = f"The process that did it died, {TRIES} times; its log is logs/worker.log."
                answer = {"failed": words, "seconds": 0.0}
            if answer.get("later") and agenda.give_back(item, later=True):
                continue
            agenda.over(item)
            busy = bool(answer.get("later"))
            over.put(Done(item, answer.get("result"), answer.get("failed", ""), answer["seconds"], busy))
    except BaseException as problem:  # noqa: BLE001 - raised where the results are awaited
        over.put(problem)
