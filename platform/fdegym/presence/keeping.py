"""A process says every ten seconds that it lives, and writes down what it has counted.

``begin`` is called once by each process that serves (site, desk, gateway, each of a worker's), never by a command. The
database may be away: what was counted is written when it is back. A process that is killed loses the last ten seconds of
its counts, nothing else.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import socket
import threading
import uuid
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import connections, transaction
from django.utils import timezone

from fdegym.lib import counts
from fdegym.lib.logs import log_what_would_be_printed, name_process
from fdegym.presence.models import Process

logger = logging.getLogger(__name__)

EVERY_S = 10.0
LEAVE_S = 5.0
ENDED_AFTER = timedelta(seconds=30)
FORGOTTEN_AFTER = timedelta(minutes=10)  #: the row of a process that has been silent for so long goes into the past


class Presence:
    """What one process says of itself. ``tell`` may be called from any one thread at a time."""

    def __init__(self, kind: str) -> None:
        self.id, self.kind = uuid.uuid4(), kind
        self.host, self.pid = socket.gethostname()[:120], os.getpid()
        self.started_at = timezone.now()
        self.doing = ""
        self.did_at: datetime | None = None
        self._written: counts.Totals = {}  #: by this row or one that has gone into the past
        self._in_past: counts.Totals = {}
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, name="presence", daemon=True)

    def tell(self) -> None:
        """Write the row. Raises what the database raises; nothing is lost by it."""
        now = counts.totals()
        facts = {"seen_at": timezone.now(), "doing": self.doing[:200], "did_at": self.did_at}
        if now != self._written:
            facts["counts"] = counts.as_rows(counts.since(now, self._in_past))
        if not Process.objects.filter(pk=self.id).update(**facts):
            # the first time; or this process was frozen for so long that its row went into the past
            self.id, self._in_past = uuid.uuid4(), self._written
            facts["counts"] = counts.as_rows(counts.since(now, self._in_past))
            Process.objects.create(
                id=self.id, kind=self.kind, host=self.host, pid=self.pid, started_at=self.started_at, **facts
            )
        self._written = now

    def run(self) -> None:
        """Tell until it is over; one outage of the database is one line in the log."""
        away = False
        while True:
            try:
                self.tell()
                put_away()
                away = False
            except Exception:  # whatever it is, the process itself serves on
                if not away:
                    logger.warning("this process cannot say that it lives; it goes on trying", exc_info=True)
                away = True
            finally:
                connections.close_all()
            if self.ending.wait(EVERY_S):
                return

    def leave(self) -> None:
        """The last thing told: what was counted goes into the past, and the row goes."""
        self.ending.set()
        self.thread.join(LEAVE_S)
        if self.thread.is_alive():
            return  # it waits for the database, and so would this
        with contextlib.suppress(Exception):
            self.tell()
            put_away(self.id)


def put_away(leaving: uuid.UUID | None = None) -> None:
    """Add what the gone counted to the past, and remove their rows. ``leaving``: this one goes now."""
    others = Process.objects.exclude(kind="past")
    gone = others.filter(pk__in=[leaving] if leaving else _gone())
    if not gone.exists():
        return
    with transaction.atomic():
        past, _ = Process.objects.get_or_create(kind="past")
        # first the one row that everybody takes: of two who put away, the second finds nothing left
        past = Process.objects.select_for_update().get(pk=past.pk)
        rows = list(gone.select_for_update())
        together = counts.added(counts.from_rows(row.counts) for row in [past, *rows])
        past.counts, past.seen_at = counts.as_rows(together), timezone.now()
        past.save(update_fields=["counts", "seen_at"])
        Process.objects.filter(pk__in=[row.pk for row in rows]).delete()


def _gone() -> list[uuid.UUID]:
    """Whoever has been silent for long; and sooner who was a process of this host and is none any more."""
    now, found = timezone.now(), []
    silent = Process.objects.exclude(kind="past").filter(seen_at__lt=now - ENDED_AFTER)
    for row in silent.only("host", "pid", "seen_at"):
        ended = row.host == socket.gethostname()[:120] and not Path(f"/proc/{row.pid}").exists()
        if ended or row.seen_at < now - FORGOTTEN_AFTER:
            found.append(row.pk)
    return found


_present: Presence | None = None


def begin(kind: str) -> None:
    """This process serves from now on, as a ``kind``. Again in the same process: nothing."""
    global _present
    name_process(kind)
    log_what_would_be_printed()
    if not settings.TELLS_OF_ITSELF or (_present is not None and _present.pid == os.getpid()):
        return
    _present = Presence(kind)
    _present.thread.start()
    atexit.register(_present.leave)


def leave() -> None:
    """This process ends in a way that runs no ``atexit`` (a worker's child)."""
    if _present is not None and _present.pid == os.getpid():
        _present.leave()


def note_task(name: str) -> None:
    """A worker takes up a task, or ("") has ended one."""
    if _present is not None and _present.pid == os.getpid():
        _present.doing = name
        if not name:
            _present.did_at = timezone.now()


def living(kind: str) -> list[Process]:
    """The processes of a kind that were heard of lately."""
    return [row for row in Process.objects.filter(kind=kind) if not row.is_silent]


def counted() -> counts.Totals:
    """What all processes with a database have counted together, the gone included: one query."""
    return counts.added(counts.from_rows(rows) for rows in Process.objects.values_list("counts", flat=True))
