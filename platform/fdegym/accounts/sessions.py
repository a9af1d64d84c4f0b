"""Whether a session still lets its person in, and to what: what every socket asks again while it is open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from fdegym.accounts.models import User


@dataclass(frozen=True, slots=True)
class Standing:
    """``problem``: why the session lets nobody in, empty where it does; ``rights``: the person's, as ``User.rights``."""

    problem: str
    rights: str = ""


def standings_of(pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], Standing]:
    """Of each session's key and person's id: whether the session exists and still belongs to that active person with that
    password. Two queries, however many they are.
    """
    model = import_module(settings.SESSION_ENGINE).SessionStore.get_model_class()
    valid = model.objects.filter(session_key__in={key for key, _ in pairs}, expire_date__gt=timezone.now())
    sessions = {session.session_key: session.get_decoded() for session in valid}
    users = {str(user.pk): user for user in User.objects.filter(pk__in={user_id for _, user_id in pairs})}
    return {(key, user_id): _standing(sessions.get(key, {}), user_id, users.get(user_id)) for key, user_id in pairs}


def _standing(data: dict[str, Any], user_id: str, user: User | None) -> Standing:
    if str(data.get(SESSION_KEY, "")) != user_id or not data.get(BACKEND_SESSION_KEY):
        return Standing("signed out")
    if user is None or not user.is_active:
        return Standing("this account is switched off")
    if not constant_time_compare(data.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()):
        return Standing("the password was changed")
    return Standing("", user.rights)
