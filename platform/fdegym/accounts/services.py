"""What can be done to an account."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from axes.models import AccessAttempt
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from fdegym.accounts.models import Theme, User


@transaction.atomic
def erase_account(user: User) -> None:
    """Remove everything that names the person. Their runs stay, without a name, so that figures which count them hold.

    The row itself is kept: the log of a run is append-only and refers to it. It cannot be signed in to any more.
    """
    account = User.objects.select_for_update().get(pk=user.pk)
    AccessAttempt.objects.filter(username=account.username.casefold()).delete()
    account.username = f"erased-{account.pk}-{secrets.token_hex(4)}"
    account.display_name = ""
    account.email = ""
    account.time_zone = ""
    account.theme = Theme.SYSTEM
    account.on_leaderboard = False
    account.is_active = False
    account.is_staff = False
    account.is_superuser = False
    account.last_login = None
    account.erased_at = timezone.now()
    account.set_unusable_password()
    account.save()
    account.groups.clear()
    account.user_permissions.clear()
    account.emailaddress_set.all().delete()


def access_changed(user_ids: Iterable[int]) -> None:
    """Close every open socket of these people within seconds: they lost, or got, what a role does not tell.

    To be called in the transaction that takes it from them, a place in a cohort say. A changed role is noticed without it.
    """
    User.objects.filter(pk__in=list(user_ids)).update(access_changes=F("access_changes") + 1)


def remember_theme(user: User, theme: str) -> None:
    User.objects.filter(pk=user.pk).update(theme=Theme(theme))
