"""Submissions, which are the queue, and grades, which are only ever added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db import models
from django.db.models import Q

from fdegym.runs.models import Run


class SubmissionState(models.TextChoices):
    """Moves: queued → grading → graded, void, or queued again after a failure of ours. A void one may be graded later."""

    QUEUED = "queued", "in the queue"
    GRADING = "grading", "being graded"
    GRADED = "graded", "graded"
    VOID = "void", "void: our fault"


class SubmissionCause(models.TextChoices):
    """Why a run ended. Whatever the cause, it is graded as it stands."""

    PERSON = "person", "submitted"
    DEADLINE = "deadline", "the customer's deadline passed"
    ABANDONED = "abandoned", "given up"
    EXPIRED = "expired", "the run's time was over"


class Submission(models.Model):
    """One run's frozen ``system/`` and its place in the queue. State moves only in ``grading.queue``.

    The lease says who grades it: a worker that stops beating loses it at ``lease_until``, and from then on nothing it
    writes is taken. ``progress`` is ``{"step", "done", "total", "what"}`` for the person who waits.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="submission")
    sealed_path = models.CharField(max_length=500)  #: the frozen system: a tar of ``Sandbox.snapshot``, never altered
    sha256 = models.CharField(max_length=64)
    files = models.PositiveIntegerField()
    bytes = models.PositiveBigIntegerField()
    cause = models.CharField(max_length=16, choices=SubmissionCause, default=SubmissionCause.PERSON)
    state = models.CharField(max_length=16, choices=SubmissionState, default=SubmissionState.QUEUED)
    void_reason = models.CharField(max_length=500, blank=True, default="")
    operator_detail = models.TextField(blank=True, default="")  #: of the last failure of ours; no person sees it
    lease_owner = models.CharField(max_length=120, blank=True, default="")
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True)  #: after a failure of ours: when to try again
    attempts = models.PositiveSmallIntegerField(default=0)
    progress = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at", "id"]
        indexes = [
            models.Index(
                fields=["created_at"], name="submissions_to_grade", condition=Q(state__in=["queued", "grading"])
            )
        ]

    def __str__(self) -> str:
        return f"submission of {self.run_id} ({self.state})"

    @property
    def sealed(self) -> Path:
        return Path(self.sealed_path)

    @property
    def is_over(self) -> bool:
        return self.state in (SubmissionState.GRADED, SubmissionState.VOID)


class SealedPart(models.Model):
    """A part of a frozen system, for graders on other hosts than the one where the file lies (``grading.carried``)."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()  #: from 0, in the order of the file
    content = models.BinaryField()

    class Meta:
        ordering = ["submission", "number"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "number"], name="one_part_per_number"),
        ]

    def __str__(self) -> str:
        return f"part {self.number} of submission {self.submission_id}"


class GradeUnalterable(Exception):
    """A grade is never changed or removed on its own; a regrade adds one."""


class Grade(models.Model):
    """The result of one completed grading: a function of (submission, scenario release, grader version).

    The first of a submission counts (``grading.services.current_grade``). Amounts are in units of U, KPIs in the
    customer's own unit. JSON fields:

    - ``incidents``: ``[{"id", "title", "meaning", "detail", "count", "source": "replay" | "contact"}]``;
    - ``permitted``: the same, with ``"granted"``: what would have been an incident without that approval;
    - ``breakdown``: the sections that ``scenarios.kit.world.Outcome`` documents;
    - ``key_facts``: ``[{"id", "title", "text", "released", "visible_in"}]``, as they read on this task at that time;
    - ``contacts``: ``{"people": {id: {"contacts", "cost"}}, "waiting": amount, "grants": [...], "facts": [...]}``, and where
      trials were run ``"trials": {"count", "cost"}``;
    - ``replay``: ``{"cpu_s", "wall_s", "calls", "failures": {entry point: ...}}``, and ``"model_use"`` where the delivery
      asked the model gateway (``fdegym.gateway.accounts.use_of_grade``);
    - ``environment``: package, Python and SQLite (of the sandbox), sandbox kind, what enforces its limits.
    """

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="grades")
    number = models.PositiveSmallIntegerField()  #: from 1, the one that counts
    scenario_release = models.CharField(max_length=64)
    grader_version = models.CharField(max_length=64)
    salt_fingerprint = models.CharField(max_length=16, blank=True, default="")
    kpi = models.FloatField()
    kpi_baseline = models.FloatField()
    kpi_reference = models.FloatField()
    uplift = models.DecimalField(max_digits=18, decimal_places=6)
    uplift_adjusted = models.DecimalField(max_digits=18, decimal_places=6)
    contact_cost = models.DecimalField(max_digits=18, decimal_places=6)
    score = models.DecimalField(max_digits=18, decimal_places=6)
    resolved = models.BooleanField()
    period = models.CharField(max_length=2000, blank=True, default="")
    incidents = models.JSONField(default=list)
    permitted = models.JSONField(default=list)
    breakdown = models.JSONField(default=list)
    key_facts = models.JSONField(default=list)
    contacts = models.JSONField(default=dict)
    replay = models.JSONField(default=dict)
    environment = models.JSONField(default=dict)
    figures = models.JSONField(default=dict)  #: what regrades are compared by (``grading.verdict.figures``)
    differs = models.BooleanField(default=False)  #: from the first of the same release and grader: a random delivery
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["submission", "number"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "number"], name="one_grade_per_number"),
        ]

    def __str__(self) -> str:
        return f"grade {self.number} of submission {self.submission_id}: S {self.score}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise GradeUnalterable("A grade is never changed; a regrade adds one.")
        super().save(*args, **kwargs)

    @property
    def run(self) -> Run:
        return self.submission.run

    @property
    def reproducible(self) -> bool:
        """False once any regrading of the submission, with nothing else changed, came to other figures."""
        return not Grade.objects.filter(submission_id=self.submission_id, differs=True).exists()
