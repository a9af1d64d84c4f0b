"""Installing a scenario that somebody sent: unpacked, read and linted aside, then moved into place whole or not at all.

Its code runs in the sandbox alone, as it always does. All happens on the file system of the private directory, in a
folder that no command takes for a scenario; what an installation that was killed left there, the next one removes.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from fdegym.authoring.ground import sound_folder
from fdegym.authoring.lint import lint
from fdegym.authoring.unpacking import ArchiveRefused, refused, unpack
from fdegym.lib.errors import FdegymError
from scenarios.kit.cache import is_built, world_place
from scenarios.kit.errors import ScenarioInvalid
from scenarios.kit.load import Scenario

_ASIDE = ".installing-"
_ID = re.compile(r"[a-z][a-z0-9_]{1,63}")
_RENAME_EXCHANGE, _AT_FDCWD = 2, -100


@dataclass(frozen=True, slots=True)
class Installed:
    """What lies in place now; ``folder`` is the scenario's."""

    scenario: Scenario
    folder: Path
    replaced: bool


def install(archive: Path, *, replace: bool = False) -> Installed:
    """Install the one scenario of an archive. Raises ``FdegymError`` in words, or ``OSError``; then nothing was changed."""
    directory = _first_private_directory()
    with _alone_in(directory), _aside(directory) as aside:
        unpack(archive, aside)
        folder = _one_folder(aside)
        place = _place_for(folder.name, directory, replace=replace)
        replaced = place.exists()
        with _worlds_of_refused(folder, forget=not replaced):
            scenario = sound_folder(folder)
            if problems := lint(scenario):
                raise ScenarioInvalid(scenario.id, problems)
        if replaced:
            _exchange(folder, place)
        else:
            folder.rename(place)
    return Installed(scenario, place, replaced)


# ---- places ----------------------------------------------------------------------------------------------------------


def _first_private_directory() -> Path:
    shipped = settings.ROOT / "scenarios"
    for directory in map(Path, settings.SCENARIO_DIRS):
        if directory == shipped:
            continue
        if not os.access(directory, os.W_OK | os.X_OK):
            raise ArchiveRefused(f"{directory}, the first of SCENARIO_DIRS, cannot be written by this user.")
        return directory
    raise ArchiveRefused(
        "There is no directory for private scenarios: make one, name it in SCENARIO_DIRS, and start the site with it."
    )


def _place_for(scenario_id: str, directory: Path, *, replace: bool) -> Path:
    """Where the scenario goes. An id that another directory holds is refused: only one of the two would ever be found."""
    for other in map(Path, settings.SCENARIO_DIRS):
        if other != directory and os.path.lexists(other / scenario_id):
            raise refused(scenario_id, f"the name is taken in {other}; give the scenario another id")
    place = directory / scenario_id
    if os.path.lexists(place) and not replace:
        raise refused(scenario_id, f"there is one in {directory}; --replace puts this one in its place")
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise refused(scenario_id, f"{place} is no folder; move it away first")
    return place


def _one_folder(aside: Path) -> Path:
    found = sorted(path.name for path in aside.iterdir())
    if len(found) != 1 or not (aside / found[0]).is_dir():
        has = ", ".join(ascii(name)[1:-1] for name in found[:5]) or "nothing"
        raise refused("", f"it holds one folder, named as the scenario's id, and nothing beside it; this one has {has}")
    if not _ID.fullmatch(found[0]):
        raise refused(found[0], "an id is small letters, digits and _, and begins with a letter")
    return aside / found[0]


@contextlib.contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """One installation at a time; whatever lies aside then was left by one that was killed."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as taken:
            raise ArchiveRefused(f"Another installation is at work in {directory}; wait for it.") from taken
        for left in directory.glob(f"{_ASIDE}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _aside(directory: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=directory))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _worlds_of_refused(folder: Path, *, forget: bool) -> Iterator[None]:
    """Worlds that lint builds are kept for the site; of a scenario that is refused nothing is."""
    try:
        yield
    except BaseException:
        if forget:
            with contextlib.suppress(FdegymError, OSError):
                _forget_worlds(sound_folder(folder))
        raise


def _forget_worlds(scenario: Scenario) -> None:
    salt, cache = settings.WORLD_SALT, Path(settings.WORLD_CACHE)
    for task in scenario.task_ids:
        if is_built(scenario, task, salt, cache):
            shutil.rmtree(world_place(scenario, task, salt, cache), ignore_errors=True)


def _exchange(new: Path, old: Path) -> None:
    """Put one folder in the place of the other in a single step, so that a site that looks finds one or the other."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _RENAME_EXCHANGE) != 0:
        problem = os.strerror(ctypes.get_errno())
        raise ArchiveRefused(
            f"{old} cannot be replaced in one step here ({problem}). Move it away and install without --replace."
        )
