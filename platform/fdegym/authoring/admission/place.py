"""Where admission's own processes live: apart from the site, with its worlds and fitted matchers in common.

``FDEGYM_VAR/admission`` holds their database, workspaces and submissions, and the results that are kept. A running site
notices nothing of an admission, and an admission nothing of the site.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from fdegym.lib.errors import FdegymError

#: What would lead the processes to the site's own database, broker or sockets.
_OF_THE_SITE = ("DATABASE_URL", "REDIS_URL", "FDEGYM_SOCKETS", "FDEGYM_SECRET_KEY")


class AdmissionRunning(FdegymError):
    """Another admission works in the same place."""

    http_status = 409


def admission_place() -> Path:
    return Path(settings.VAR) / "admission"


@contextlib.contextmanager
def alone() -> Iterator[Path]:
    """The place, for one admission at a time. Raises ``AdmissionRunning``."""
    place = admission_place()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (place / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as taken:
            raise AdmissionRunning(f"Another admission is at work in {place}; wait for it or end it.") from taken
        yield place


def _shared(place: Path) -> None:
    """What admission has together with the site. Safe from several threads and processes at once."""
    for name, target in (("worlds", Path(settings.WORLD_CACHE)), ("cache", Path(settings.CACHE_DIR))):
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        link = place / name
        if not link.is_symlink() or link.readlink() != target:
            fresh = place / f".{name}-{os.getpid()}-{threading.get_ident()}"
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(target)
            fresh.replace(link)


def start(place: Path, module: str, *arguments: str) -> subprocess.Popen[str]:
    """Start one of admission's processes: spoken to by lines, what else it says goes to its log.

    In a session of its own: Ctrl-C is for the command, which then lets them clear away.
    """
    _shared(place)
    logs = place / "logs"
    logs.mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name not in _OF_THE_SITE}
    environment |= {
        "FDEGYM_VAR": str(place),
        "PYTHONPATH": f"{settings.ROOT}:{settings.ROOT / 'platform'}",
        "DJANGO_SETTINGS_MODULE": "fdegym.settings",
        # as many processes as cores: more threads in each would only wait for each other
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    with (logs / f"{module.rsplit('.', 1)[-1]}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=settings.ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
