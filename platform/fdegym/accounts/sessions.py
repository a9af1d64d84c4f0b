"""Whether a session still lets its person in, and to what: what every socket asks again while it is open."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.utils.crypto import constant_time_compare

from fdegym.accounts.models import User


@dataclass(frozen=True, slots=True)
class Standing:
    """``problem``: why the session lets nobody in, empty where it does; ``rights``: the person's, as ``User.rights``."""

    problem: str
    rights: str = ""


def standing_of(session_key: str | None, user_id: str) -> Standing:
    """Whether the session exists and still belongs to an active person with that password."""
    data = import_module(settings.SESSION_ENGINE).SessionStore(session_key).load() if session_key else {}
    if str(data.get(SESSION_KEY, "")) != user_id or not data.get(BACKEND_SESSION_KEY):
        return Standing("signed out")
    user = User.objects.filter(pk=user_id).first()
    if user is None or not user.is_active:
        return Standing("this account is switched off")
    if not constant_time_compare(data.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()):
        return Standing("the password was changed")
    return Standing("", user.rights)
