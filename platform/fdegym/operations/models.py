"""What operators did by hand. Rows are only ever added."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class OperatorAct(models.Model):
    """One act: who, what, to which thing, and in words what came of it. Of a run it stands in the run's log as well."""

    operator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    act = models.CharField(max_length=32)
    subject = models.CharField(max_length=200)
    run_id = models.UUIDField(null=True, blank=True)  # no key: the act stays when the run is gone
    words = models.CharField(max_length=500)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["-at"])]

    def __str__(self) -> str:
        return f"{self.act} {self.subject}"
