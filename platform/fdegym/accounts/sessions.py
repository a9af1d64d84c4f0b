"""Whether a session still lets its person in: what every socket asks again while it is open."""

from __future__ import annotations

from importlib import import_module

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.utils.crypto import constant_time_compare


def session_is_good(session_key: str | None, user_id: str) -> bool:
    """Whether the session exists and still belongs to an active person with that password."""
    if not session_key:
        return False
    data = import_module(settings.SESSION_ENGINE).SessionStore(session_key).load()
    if str(data.get(SESSION_KEY, "")) != user_id or not data.get(BACKEND_SESSION_KEY):
        return False
    user = get_user_model().objects.filter(pk=user_id, is_active=True).first()
    return user is not None and constant_time_compare(data.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())
