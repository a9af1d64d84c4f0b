"""Our processes, as each last said of itself."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.db import models
from django.utils import timezone

SILENT_AFTER = timedelta(seconds=60)  #: a process that has said nothing for so long is gone or hangs


class Process(models.Model):
    """One process of the site, on whichever host. It writes its own row, and nobody else does while it lives.

    ``counts`` is what it counted (``fdegym.lib.counts.as_rows``). The one row of kind ``past`` holds what processes
    counted that are gone, so that sums never go back.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=16)  #: site, desk, gateway, worker, grader or past
    host = models.CharField(max_length=120, blank=True, default="")
    pid = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)
    doing = models.CharField(max_length=200, blank=True, default="")  #: of a worker: the task it is in
    did_at = models.DateTimeField(null=True, blank=True)  #: of a worker: when it last ended a task
    counts = models.JSONField(default=list)

    class Meta:
        ordering = ["kind", "host", "started_at"]
        constraints = [
            models.UniqueConstraint(fields=["kind"], condition=models.Q(kind="past"), name="one_past"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.host}/{self.pid}"

    @property
    def is_silent(self) -> bool:
        return self.seen_at < timezone.now() - SILENT_AFTER
