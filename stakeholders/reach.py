"""Whether a person can be reached at a moment, and what their automatic reply says when not."""

from __future__ import annotations

from datetime import datetime, timedelta

from scenarios.kit.format import Stakeholder
from stakeholders.calendar import Calendar, words_for
from stakeholders.script import Script
from stakeholders.state import State


def automatic_reply(script: Script, state: State, person: Stakeholder) -> str | None:
    """What comes back instead of an answer, or None if the person can be reached now."""
    own = person.availability.automatic_reply
    if person.availability.absent or _has_left(script, state, person):
        return own or "I am not here any more and do not read this."
    if script.calendar is None or state.now is None or _is_in(script.calendar, state.now, person):
        return None
    if own is not None:
        return own
    back = _next_reached(script.calendar, state.now, person)
    return f"Back {words_for(back)}." if back else "I am away."


def _has_left(script: Script, state: State, person: Stakeholder) -> bool:
    limits = person.availability
    if limits.leaves_after_contacts is not None and state.person(person.id).counted >= limits.leaves_after_contacts:
        return True
    if limits.leaves_after_hours is None or script.calendar is None or state.now is None:
        return False
    return state.now - script.calendar.starts_at >= timedelta(hours=limits.leaves_after_hours)


def _is_in(calendar: Calendar, now: datetime, person: Stakeholder) -> bool:
    limits = person.availability
    if limits.away_until is not None and now < limits.away_until.replace(tzinfo=None):
        return calendar.in_window(now, limits.reachable_while_away)
    return not limits.windows or calendar.in_window(now, limits.windows)


def _next_reached(calendar: Calendar, now: datetime, person: Stakeholder) -> datetime | None:
    limits = person.availability
    away_until = limits.away_until.replace(tzinfo=None) if limits.away_until else None
    start = calendar.working(now)
    if away_until is not None and now < away_until:
        exception = calendar.next_in_windows(start, limits.reachable_while_away)
        if exception is not None and exception < away_until:
            return exception
        start = calendar.working(away_until)
    return calendar.next_in_windows(start, limits.windows) if limits.windows else start
