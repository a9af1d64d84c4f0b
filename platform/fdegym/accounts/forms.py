"""Forms of one's own account."""

from __future__ import annotations

import zoneinfo
from typing import Any

from allauth.account.forms import SignupForm as AllauthSignupForm
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q

from fdegym.accounts.buckets import PASSWORD_CHECKS
from fdegym.accounts.models import User


def _zones() -> list[tuple[str, str]]:
    """Zones that people know by a place; the database's historical aliases and offsets are left out."""
    named = sorted(name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith("Etc/"))
    return [("", "As the browser says"), ("UTC", "UTC"), *((name, name.replace("_", " ")) for name in named)]


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ("display_name", "email", "time_zone", "theme", "on_leaderboard")
        labels = {
            "display_name": "Name that others see",
            "email": "E-mail",
            "time_zone": "Time zone",
            "theme": "Colours",
            "on_leaderboard": "Show me on the leaderboard",
        }
        help_texts = {
            "display_name": "Empty: your username.",
            "email": "Nothing is sent to it unless the operator of this site writes to you.",
            "time_zone": "",
            "on_leaderboard": "Switched off, you appear on no board. Your runs still count, without a name, "
            "in the averages of a scenario.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["time_zone"] = forms.ChoiceField(
            choices=_zones, required=False, label="Time zone", initial=self.instance.time_zone
        )

    def clean_display_name(self) -> str:
        """Nobody stands on a board under the name of somebody else."""
        name = User.normalize_username(" ".join(self.cleaned_data["display_name"].split()))
        others = User.objects.exclude(pk=self.instance.pk)
        if name and others.filter(Q(username__iexact=name) | Q(display_name__iexact=name)).exists():
            raise ValidationError("Somebody else here has this name.")
        return name


class SignupForm(AllauthSignupForm):
    """Everything that is wrong at once: a second password that differs is told beside a first one that will not do."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        first, second = (self.data.get(self.add_prefix(name)) for name in ("password1", "password2"))
        if second and first != second and not self.has_error("password2"):
            self.add_error("password2", "The two passwords differ.")
        return cleaned


class EraseAccountForm(forms.Form):
    """Asks for what only the owner knows, and for a word that nobody types by accident."""

    username = forms.CharField(
        label="Your username, to confirm", widget=forms.TextInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        label="Your password", widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        self.user = user
        super().__init__(*args, **kwargs)

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        token = PASSWORD_CHECKS.take(self.user.pk)
        if not self.user.check_password(password):
            raise ValidationError("This is not your password. Nothing was deleted.")
        token.put_back()
        return password

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"].strip()
        if username != self.user.username:
            raise ValidationError("This is not your username. Nothing was deleted.")
        return username
