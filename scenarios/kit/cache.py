"""Where built worlds lie: one directory per content, published whole or not at all.

A world is a function of (what a scenario makes worlds of, task, salt, the kit's own code); its directory is named by
their hash under a key of this cache. Without the key a name could be computed by anybody who has the scenarios, and a
sandbox shows the host paths of its mounts. A world is built in a directory of its own and renamed into place, so that
two builders at once, or a killed one, do no harm.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import hmac
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from scenarios.kit.load import Scenario, Task, content_hash, load_task

#: Runs ``scenarios.kit.build`` for (scenario, task, salt) with its output below the given directory.
Builder = Callable[[Scenario, str, str, Path], None]


@functools.cache
def _kit_hash() -> str:
    return content_hash(Path(__file__).parent)


def salt_fingerprint(salt: str) -> str:
    """Eight hexadecimal digits that name a salt without telling it; empty for an unsalted site."""
    return hashlib.sha256(f"fdegym salt\x1f{salt}".encode()).hexdigest()[:8] if salt else ""


def world_key(scenario: Scenario, task_id: str, salt: str) -> str:
    """What a world is a function of, as one hash. It tells the task to anybody who has the scenarios."""
    text = "\x1f".join((scenario.world_release, task_id, salt, _kit_hash()))
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def _key_of(cache: Path) -> bytes:
    """The cache's own key, made with it; of several processes at once the first one's stays."""
    path = cache / ".key"
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=cache, prefix=".key-") as fresh:
        fresh.write(secrets.token_bytes(32))
        fresh.flush()
        with contextlib.suppress(FileExistsError):
            os.link(fresh.name, path)
    return path.read_bytes()


def world_place(scenario: Scenario, task_id: str, salt: str, cache: Path) -> Path:
    """The directory of a world in this cache, built or not; its name tells nothing."""
    digest = hmac.new(_key_of(cache), world_key(scenario, task_id, salt).encode(), hashlib.sha256).hexdigest()
    return cache / digest[:40]


def is_built(scenario: Scenario, task_id: str, salt: str, cache: Path) -> bool:
    return (world_place(scenario, task_id, salt, cache) / "meta.json").is_file()


@contextlib.contextmanager
def _building(cache: Path) -> Iterator[Path]:
    """A directory to build in, gone afterwards unless it was renamed; those that killed builds left are removed first.

    A build holds a lock on its directory as long as its process lives: a directory without a lock is nobody's.
    """
    cache.mkdir(parents=True, exist_ok=True)
    for left in cache.glob("building-*"):
        with contextlib.suppress(OSError), _locked(left, wait=False):
            shutil.rmtree(left, ignore_errors=True)
    with contextlib.ExitStack() as held:
        directory = _locked_directory(cache, held)
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def _locked_directory(cache: Path, held: contextlib.ExitStack) -> Path:
    """A new one. Before its lock is held another process may take it for a left one; then one more is made."""
    while True:
        directory = Path(tempfile.mkdtemp(prefix="building-", dir=cache))
        with contextlib.suppress(FileNotFoundError):
            held.enter_context(_locked(directory, wait=True))
            if directory.exists():
                return directory
        held.close()


@contextlib.contextmanager
def _locked(directory: Path, *, wait: bool) -> Iterator[None]:
    """Hold the lock of a directory; without ``wait``, ``BlockingIOError`` if somebody else does."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)


def ensure_task(scenario: Scenario, task_id: str, *, salt: str, cache: Path, builder: Builder) -> Task:
    """The task with its world, built now if it is not there yet."""
    scenario.facts_of(task_id)  # an unknown task is said before anything is built
    place = world_place(scenario, task_id, salt, cache)
    if not (place / "meta.json").is_file():
        with _building(cache) as building:
            builder(scenario, task_id, salt, building)
            building.chmod(0o755)
            try:
                building.rename(place)
            except OSError:
                if not (place / "meta.json").is_file():
                    raise
    return load_task(scenario, task_id, place)
