"""What calls cost and what they may cost: one account for each run and each grade. And answers kept for regrades."""

from __future__ import annotations

from django.db import models

from fdegym.runs.models import Run


class Account(models.Model):
    """The allowance of one run or one grade, named like its directory. Amounts are whole tokens and whole nano-units.

    ``spent`` + ``reserved`` never exceed ``most`` by a reservation: ``metering.reserve`` is one conditional UPDATE.
    ``refused`` counts requests that brought no answer, by code.
    """

    name = models.CharField(max_length=64, unique=True)
    run = models.OneToOneField(Run, on_delete=models.CASCADE, null=True, related_name="gateway_account")
    scenario_id = models.CharField(max_length=64)
    release = models.CharField(max_length=64)
    delivery = models.CharField(max_length=64, default="")  #: of a grade: hash of what was delivered
    most_tokens = models.PositiveBigIntegerField()
    most_nano = models.PositiveBigIntegerField(null=True)
    calls_per_step = models.PositiveIntegerField(null=True)  #: of a grade; a run's work has no steps
    calls = models.PositiveIntegerField(default=0)
    spent_tokens = models.PositiveBigIntegerField(default=0)
    spent_nano = models.PositiveBigIntegerField(default=0)
    reserved_tokens = models.PositiveBigIntegerField(default=0)
    reserved_nano = models.PositiveBigIntegerField(default=0)
    refused = models.JSONField(default=dict)
    opened_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.name}: {self.spent_tokens} of {self.most_tokens} tokens"


class Call(models.Model):
    """One metered call of a grade. The calls of a run are events of its log."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="rows")
    request_hash = models.CharField(max_length=64)
    model = models.CharField(max_length=100)
    outcome = models.CharField(max_length=32)  #: ``answered``, or the code of what went wrong
    kept = models.BooleanField(default=False)  #: answered from what an earlier grade was answered; charged all the same
    estimated = models.BooleanField(default=False)  #: usage unknown: charged what was reserved
    prompt_tokens = models.PositiveIntegerField()
    completion_tokens = models.PositiveIntegerField()
    nano = models.PositiveBigIntegerField()
    duration_ms = models.PositiveIntegerField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.outcome}: {self.prompt_tokens} + {self.completion_tokens} tokens"


class Answer(models.Model):
    """What a request was answered when this delivery was first graded on this scenario release.

    The same request is answered the same ever after, at the same price, so that a regrade gives the same number. To
    another delivery it is a new one: what one grading asked must tell the next nothing.
    ``status`` is 200, or that with which the provider found fault with the request itself.
    """

    scenario_id = models.CharField(max_length=64)
    release = models.CharField(max_length=64)
    delivery = models.CharField(max_length=64, default="")  #: hash of the delivered files
    request_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    body = models.JSONField()
    prompt_tokens = models.PositiveIntegerField()
    completion_tokens = models.PositiveIntegerField()
    nano = models.PositiveBigIntegerField()
    reserved_nano = (
        models.PositiveBigIntegerField()
    )  #: the most that it could cost: with it the call was, or is, allowed
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["scenario_id", "release", "delivery", "request_hash"], name="one_answer_per_request"
            ),
        ]

    def __str__(self) -> str:
        return f"answer to {self.request_hash[:12]} for {self.scenario_id}"
