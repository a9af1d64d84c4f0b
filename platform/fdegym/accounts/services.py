"""What can be done to an account."""

from __future__ import annotations

import secrets

from django.db import transaction
from django.utils import timezone

from fdegym.accounts.models import Theme, User


@transaction.atomic
def erase_account(user: User) -> None:
    """Remove everything that names the person. Their runs stay, without a name, so that figures which count them hold.

    The row itself is kept: the log of a run is append-only and refers to it. It cannot be signed in to any more.
    """
    account = User.objects.select_for_update().get(pk=user.pk)
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


def remember_theme(user: User, theme: str) -> None:
    User.objects.filter(pk=user.pk).update(theme=Theme(theme))
