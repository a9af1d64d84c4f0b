"""The person behind a run. Identity is small on purpose: a name to show, nothing the site can do without."""

from __future__ import annotations

import unicodedata
import zoneinfo
from typing import ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.core.exceptions import ValidationError
from django.db import models


class Role(models.TextChoices):
    LEARNER = "learner", "Learner"
    INSTRUCTOR = "instructor", "Instructor"
    RESEARCHER = "researcher", "Researcher"
    OPERATOR = "operator", "Operator"


class Theme(models.TextChoices):
    SYSTEM = "system", "As the system"
    LIGHT = "light", "Light"
    DARK = "dark", "Dark"


def validate_time_zone(name: str) -> None:
    """A zone of the IANA database, by its full name; anything else would fail when a page is drawn."""
    if name not in zoneinfo.available_timezones():
        raise ValidationError("%(name)s is not a time zone of the IANA database.", params={"name": name})


def validate_display_name(name: str) -> None:
    """Control and direction-override characters could make one name look like another on the leaderboard."""
    if any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in name):
        raise ValidationError("A name may hold letters, digits, spaces and signs, but no invisible characters.")


class PeopleManager(UserManager["User"]):
    """``createsuperuser`` makes an operator, so that role and Django's flags never disagree."""

    def create_superuser(
        self, username: str, email: str | None = None, password: str | None = None, **fields: object
    ) -> User:
        fields.setdefault("role", Role.OPERATOR)
        return super().create_superuser(username, email, password, **fields)


class User(AbstractUser):
    """One account. ``display_name`` is what others see; without one, the username."""

    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]

    display_name = models.CharField(max_length=60, blank=True, validators=[validate_display_name])
    role = models.CharField(max_length=12, choices=Role, default=Role.LEARNER)
    time_zone = models.CharField(
        max_length=64, blank=True, validators=[validate_time_zone], help_text="Empty: as the browser says."
    )
    theme = models.CharField(max_length=6, choices=Theme, default=Theme.SYSTEM)
    on_leaderboard = models.BooleanField(default=True)
    erased_at = models.DateTimeField(null=True, blank=True, editable=False)
    access_changes = models.PositiveIntegerField(default=0, editable=False)  #: counted by ``services.access_changed``

    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[PeopleManager] = PeopleManager()

    def __str__(self) -> str:
        return self.shown_name

    @property
    def shown_name(self) -> str:
        return self.display_name or self.username

    @property
    def rights(self) -> str:
        """Another text whenever what the person may see has changed: an open socket then ends."""
        return f"{self.role} {self.access_changes}"

    def get_full_name(self) -> str:
        return self.shown_name

    def get_short_name(self) -> str:
        return self.shown_name
