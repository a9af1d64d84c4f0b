"""Trials that are being run: their place in the queue. What came of one stands in the run's log alone."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from fdegym.runs.models import Run


class TrialState(models.TextChoices):
    """Moves: waiting → running → over, or waiting again after a failure of ours. Only ``delivery.trials`` makes them."""

    WAITING = "waiting", "waiting"
    RUNNING = "running", "being run"
    OVER = "over", "over"


class TrialRun(models.Model):
    """One trial that was asked for (``trial.requested``, event ``requested_seq`` of its run).

    The lease says who runs it: a worker that stops beating loses it at ``lease_until``, and from then on nothing it finds
    is logged. ``copy_path`` is ``system/`` as it stood when the first worker took the trial: a retry tries the same.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="trials")
    requested_seq = models.PositiveIntegerField()
    client_id = models.CharField(max_length=100)
    state = models.CharField(max_length=16, choices=TrialState, default=TrialState.WAITING)
    copy_path = models.CharField(max_length=500, blank=True, default="")
    copy_sha256 = models.CharField(max_length=64, blank=True, default="")
    lease_owner = models.CharField(max_length=120, blank=True, default="")
    lease_until = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    progress = models.JSONField(default=dict, blank=True)
    operator_detail = models.TextField(blank=True, default="")  #: of the last failure of ours; no person sees it
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [models.UniqueConstraint(fields=["run", "requested_seq"], name="one_row_per_trial")]
        indexes = [models.Index(fields=["created_at"], name="trials_to_run", condition=~Q(state="over"))]

    def __str__(self) -> str:
        return f"trial {self.requested_seq} of {self.run_id} ({self.state})"
