"""Accounts of a load, made and removed in bulk within the site (``manage.py shell``): signing up is limited."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

from fdegym.accounts.models import User
from fdegym.runs.models import Run
from workspaces.services import destroy_workspace


def make(names: Iterable[str]) -> dict[str, str]:
    """New accounts without a password: name → key of a session in which it is signed in.

    To sign two hundred people in would measure how dear it is to hash a password.
    """
    users = []
    for name in names:
        user = User(username=name)
        user.set_unusable_password()
        user.save()
        users.append(user)
    return sessions_of(users)


def sessions_of(users: Iterable[User]) -> dict[str, str]:
    found = {}
    for user in users:
        session = import_module(settings.SESSION_ENGINE).SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]  # those before it only refuse
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.save()
        found[user.username] = str(session.session_key)
    return found


def remove(names: Iterable[str]) -> None:
    """Their workspaces, which would outlive the site, their runs, and the accounts."""
    people = User.objects.filter(username__in=list(names))
    for run_id in Run.objects.filter(user__in=people).values_list("pk", flat=True):
        destroy_workspace(str(run_id))
    people.delete()
