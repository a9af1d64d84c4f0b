"""What an attack is told: all that a well-informed cheat could know about the host, and how to know its files again.

A door is shut only if it stays shut for somebody who knows where it is.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
import numpy
from django.conf import settings

from fdegym.authoring.battery.witness import HostWitness
from fdegym.gateway.places import CONTROL_NAME, SOCKET_NAME, gateway_root, run_directory
from scenarios.kit.load import Task

#: Names that files of the platform alone have.
NAMES = ("facts.toml", "stakeholders.toml", "phrasings.toml", "scenario.toml", "fdegym.sqlite3", "secret-key")
PLATFORM = ("grading", "stakeholders", "workspaces", "platform/fdegym", "scenarios/kit")
#: Of the platform's code, what a sandbox shows on purpose.
SHOWN = ("workspaces/launcher", "stakeholders/ask", "scenarios/kit/system")
LEAST_BYTES = 64  #: shorter files are like others by chance


def known_to_the_attack(task: Task, witness: HostWitness, neighbour: str) -> dict[str, Any]:
    """Places, names and contents, as JSON has them."""
    sandboxes, desks = Path(settings.SANDBOX_DIR), Path(settings.DESK_DIR)
    keeper = Path(settings.KEEPER_SOCKET)
    sockets = [keeper, desks / "site.sock", desks / neighbour / "desk.sock", *(sandboxes / neighbour).glob("control/*")]
    sockets += [gateway_root() / CONTROL_NAME, run_directory(neighbour) / SOCKET_NAME]
    places = [settings.VAR, settings.ROOT, Path(sys.prefix), task.scenario.folder, task.world, settings.SUBMISSION_DIR]
    places += [sandboxes / neighbour, desks / neighbour, settings.VAR / "secret-key", settings.VAR / "fdegym.sqlite3"]
    return {
        "token": witness.token,
        "port": witness.port,
        "abstract": witness.abstract,
        "neighbour": neighbour,
        "sockets": [str(path) for path in sockets],
        "paths": list(dict.fromkeys(str(path) for path in places)),
        "names": NAMES,
        "contents": contents(task.scenario.folder, task.scenario.release, task.visible),
        "task_words": [name for name in task.scenario.facts.variants if len(name) > 5],
    }


@functools.lru_cache(maxsize=8)
def contents(folder: Path, release: str, visible: Path) -> dict[str, list[str]]:
    """Size → SHA-256 of files that no sandbox may show: the scenario's hidden ones, the platform's code, its packages.

    ``release`` only says when the folder's files have changed.
    """
    shown = {_digest(path) for path in _files(visible)}
    found: dict[str, list[str]] = defaultdict(list)
    hidden = [*_files(folder), *_platform(), Path(django.__file__), Path(numpy.__file__)]
    for path in hidden:
        size = path.stat().st_size
        if size >= LEAST_BYTES and (digest := _digest(path)) not in shown:
            found[str(size)].append(digest)
    return dict(found)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)


def _platform() -> Iterator[Path]:
    root = Path(settings.ROOT)
    for name in PLATFORM:
        for path in _files(root / name):
            inside = path.relative_to(root).as_posix()
            if path.suffix == ".py" and not inside.startswith(SHOWN):
                yield path


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
