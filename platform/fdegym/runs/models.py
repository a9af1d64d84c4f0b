"""A run and its one append-only log."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q


class RunState(models.TextChoices):
    """States of a run. Legal moves are in ``runs.services.MOVES``; only ``transition`` makes them."""

    PREPARING = "preparing", "being prepared"
    OPEN = "open", "open"
    SUBMITTED = "submitted", "submitted"
    GRADED = "graded", "graded"
    VOID = "void", "void: our fault"
    FAILED = "failed", "could not be prepared"


#: All states but "could not be prepared", where the person has seen nothing.
BEGUN = [str(state) for state in RunState if state != RunState.FAILED]


class RunOrigin(models.TextChoices):
    """Who works in it: a person of the site, or a command (``play``, admission). Commands are never ranked."""

    PERSON = "person", "person"
    COMMAND = "command", "command"


class Run(models.Model):
    """One person's or agent's attempt at a (task, level).

    ``attempt`` counts the owner's begun runs of the scenario from 1; the first is the ranked one. A run that could not
    be prepared was never begun: the next one gets its number. ``task_id`` is drawn by the site and shown to nobody but
    operators before the debrief. ``release`` is the content hash of the scenario
    that the run was begun with. ``training`` is kept from the beginning: whatever becomes of the scenario later, a run of
    a training scenario ranks nowhere and counts in no figure about people. ``opened_at`` is when its workspace was handed
    out: the person's own clock begins there, however long they had to wait for it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="runs", null=True, blank=True
    )
    origin = models.CharField(max_length=16, choices=RunOrigin, default=RunOrigin.PERSON)
    scenario_id = models.CharField(max_length=64)
    task_id = models.CharField(max_length=64)
    level = models.CharField(max_length=2)
    release = models.CharField(max_length=64)
    training = models.BooleanField(default=False)
    state = models.CharField(max_length=16, choices=RunState, default=RunState.PREPARING)
    state_reason = models.CharField(max_length=500, blank=True, default="")
    attempt = models.PositiveIntegerField()
    begun_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    sealed_head = models.CharField(max_length=64, blank=True, default="")
    sealed_signature = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        ordering = ["-begun_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "scenario_id", "attempt"],
                condition=Q(origin="person", state__in=BEGUN),
                name="one_run_per_attempt",
            ),
            models.UniqueConstraint(
                fields=["user", "scenario_id"],
                condition=Q(origin="person", state__in=["preparing", "open"]),
                name="one_live_run_per_scenario",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-begun_at"]),
            models.Index(fields=["scenario_id", "state"]),
            # what sweeps and figures ask for, however many runs are over
            models.Index(fields=["state", "begun_at"], name="live_runs", condition=Q(state__in=["preparing", "open"])),
        ]

    def __str__(self) -> str:
        return f"{self.scenario_id} {self.level} #{self.attempt} ({self.state})"

    @property
    def is_ranked(self) -> bool:
        """The person's first begun run of the scenario: the one that the leaderboard counts."""
        may_rank = self.origin == RunOrigin.PERSON and not self.training
        return may_rank and self.attempt == 1 and self.state != RunState.FAILED

    @property
    def clock_from(self) -> datetime:
        """When the person's own clock began."""
        return self.opened_at or self.begun_at

    @property
    def time_used(self) -> timedelta | None:
        """From there until it was handed in; None before."""
        return self.submitted_at - self.clock_from if self.submitted_at else None

    @property
    def is_live(self) -> bool:
        return self.state in (RunState.PREPARING, RunState.OPEN)


class RunEvent(models.Model):
    """One thing that happened in a run. Rows are only ever added, by ``runs.log.append``."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=48)
    payload = models.JSONField()
    at = models.DateTimeField()
    hash = models.CharField(max_length=64)
    signature = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        ordering = ["seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="one_event_per_number")]

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"
