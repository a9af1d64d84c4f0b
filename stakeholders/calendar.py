"""The customer's working time: what a contact or a wait does to the clock, and what waiting costs.

Every moment is a naive ``datetime`` in the customer's local time, and always lies in working time: 17:00 on a day that
closes at 17:00 *is* the next working day's opening. The clock moves by contacts and waits alone.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from fdegym.lib.errors import FdegymError
from scenarios.kit.format import CalendarConfig, Weekday, Window

WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
LONGEST_WAIT_DAYS = 90  #: calendar days that one wait may cover; also how far ahead a person's hours are looked up
QUARTERS_OF_A_DAY = 4


class WaitRefused(FdegymError):
    """A wait that cannot be made; its text says why and how to write one. Nothing was charged."""

    http_status = 422


def words_for(moment: datetime) -> str:
    """A moment as people of any country read it: ``Monday 5 October, 09:00``."""
    return f"{DAY_NAMES[moment.weekday()]} {moment.day} {MONTH_NAMES[moment.month - 1]}, {moment:%H:%M}"


@dataclass(frozen=True, slots=True)
class WaitPlan:
    """A wait before it is made: where the clock goes, the working minutes on the way, what they cost."""

    until: datetime
    working_minutes: int
    quarters: int
    charge: Decimal


class Calendar:
    """Arithmetic of one customer's working hours."""

    def __init__(self, config: CalendarConfig) -> None:
        if config.opens >= config.closes:
            raise ValueError("calendar.opens must be before calendar.closes")
        if not config.workdays:
            raise ValueError("calendar.workdays is empty")
        self.config = config
        self._holidays = frozenset(config.holidays)
        self.day_minutes = minute_of(config.closes) - minute_of(config.opens)
        self.starts_at = self.working(config.starts_at.replace(tzinfo=None))

    @property
    def deadline(self) -> datetime | None:
        given = self.config.deadline
        return given.replace(tzinfo=None) if given else None

    def is_workday(self, day: date) -> bool:
        return WEEKDAYS[day.weekday()] in self.config.workdays and day not in self._holidays

    def working(self, moment: datetime) -> datetime:
        """The same moment if it is working time, else the next opening."""
        moment = moment.replace(second=0, microsecond=0)
        if self.is_workday(moment.date()):
            if moment.time() < self.config.opens:
                return datetime.combine(moment.date(), self.config.opens)
            if moment.time() < self.config.closes:
                return moment
        return datetime.combine(self._next_workday(moment.date()), self.config.opens)

    def add_minutes(self, moment: datetime, working_minutes: int) -> datetime:
        """The moment that many working minutes later; time outside working hours is skipped."""
        moment, left = self.working(moment), working_minutes
        while True:
            until_closing = minute_of(self.config.closes) - minute_of(moment.time())
            if left < until_closing:
                return moment + timedelta(minutes=left)
            left -= until_closing
            moment = datetime.combine(self._next_workday(moment.date()), self.config.opens)

    def minutes_between(self, start: datetime, end: datetime) -> int:
        """Working minutes from ``start`` to ``end``; 0 if ``end`` is not later."""
        if end <= start:
            return 0
        day, total = start.date(), 0
        while day <= end.date():
            if self.is_workday(day):
                opens = max(start, datetime.combine(day, self.config.opens))
                closes = min(end, datetime.combine(day, self.config.closes))
                total += max(0, int((closes - opens).total_seconds() // 60))
            day += timedelta(days=1)
        return total

    def price(self, working_minutes: int) -> tuple[int, Decimal]:
        """Started quarters of working days, and their charge in units of U."""
        quarters = -(-working_minutes * QUARTERS_OF_A_DAY // self.day_minutes)
        return quarters, self.config.day_price / QUARTERS_OF_A_DAY * quarters

    def plan_wait(self, now: datetime, target: str) -> WaitPlan:
        """Read ``3h``, ``2d``, ``Tue 09:30`` or a date and say where that wait leads. Raises ``WaitRefused``."""
        until = self.working(self._target(now, target))
        if until - now > timedelta(days=LONGEST_WAIT_DAYS):
            raise WaitRefused(f"That is more than {LONGEST_WAIT_DAYS} days away. Nothing was changed; wait for less.")
        minutes = self.minutes_between(now, until)
        if minutes <= 0:
            raise WaitRefused(f"It is already {words_for(now)} there. Nothing was changed; give a later time.")
        quarters, charge = self.price(minutes)
        return WaitPlan(until, minutes, quarters, charge)

    def in_window(self, moment: datetime, windows: list[Window]) -> bool:
        return any(
            (window.on is None or window.on == moment.date())
            and (not window.days or WEEKDAYS[moment.weekday()] in window.days)
            and window.opens <= moment.time() < window.closes
            for window in windows
        )

    def next_in_windows(self, moment: datetime, windows: list[Window]) -> datetime | None:
        """The first working moment, from ``moment`` on, at which one of the windows is open; None within 90 days."""
        moment = self.working(moment)
        if self.in_window(moment, windows):
            return moment
        for offset in range(LONGEST_WAIT_DAYS):
            day = moment.date() + timedelta(days=offset)
            openings = [max(datetime.combine(day, window.opens), moment) for window in windows]
            openings = [at for at in openings if self.working(at).date() == day]
            reached = sorted(self.working(at) for at in openings)
            for at in reached:
                if self.in_window(at, windows):
                    return at
        return None

    def _next_workday(self, day: date) -> date:
        for offset in range(1, 367):
            candidate = day + timedelta(days=offset)
            if self.is_workday(candidate):
                return candidate
        raise ValueError("the calendar has no working day within a year")

    def _target(self, now: datetime, target: str) -> datetime:
        text = unicodedata.normalize("NFKC", target).strip().casefold()
        amount = _AMOUNT.fullmatch(text)
        if amount:
            number, unit = float(amount["number"]), amount["unit"]
            minutes = round(number * (self.day_minutes if unit in _DAYS else 60 if unit in _HOURS else 1))
            if minutes > LONGEST_WAIT_DAYS * self.day_minutes:
                raise WaitRefused(f"That is more than {LONGEST_WAIT_DAYS} days. Nothing was changed; wait for less.")
            return self.add_minutes(now, minutes)
        dated = _DATED.fullmatch(text)
        if dated:
            try:
                day = date(int(dated["year"]), int(dated["month"]), int(dated["day"]))
            except ValueError as problem:
                raise WaitRefused(_HOW) from problem
            return datetime.combine(day, _clock_time(dated["clock"], self.config.opens))
        named = _NAMED.fullmatch(text)
        weekday = _weekday(named["day"]) if named else None
        if named and weekday is not None:
            at = _clock_time(named["clock"], self.config.opens)
            ahead = (weekday - now.weekday()) % 7
            candidate = datetime.combine(now.date() + timedelta(days=ahead), at)
            return candidate if candidate > now else candidate + timedelta(days=7)
        raise WaitRefused(_HOW)


_MINUTES = ("m", "min", "mins", "minute", "minutes", "分钟")
_HOURS = ("h", "hr", "hrs", "hour", "hours", "小时", "个小时")
_DAYS = ("d", "day", "days", "天", "个工作日", "工作日")
_UNITS = "|".join(sorted((*_MINUTES, *_HOURS, *_DAYS), key=len, reverse=True))
_CLOCK = r"(?P<clock>\d{1,2}[:.]\d{2})"
_AMOUNT = re.compile(rf"(?P<number>\d{{1,6}}(?:\.\d{{1,2}})?)\s*(?P<unit>{_UNITS})")
_DATED = re.compile(rf"(?P<year>\d{{4}})-(?P<month>\d{{1,2}})-(?P<day>\d{{1,2}})(?:[t\s,]+{_CLOCK})?")
_NAMED = re.compile(rf"(?P<day>[a-z]{{3,9}}|(?:周|星期|礼拜)[一二三四五六日天])(?:[\s,]*{_CLOCK})?")
_HOW = 'A wait is written like 3h, 2d, "Tue 09:30" or "2026-10-06 09:30". Nothing was changed.'


def minute_of(clock: time) -> int:
    """Minutes since midnight."""
    return clock.hour * 60 + clock.minute


def _clock_time(text: str | None, otherwise: time) -> time:
    if text is None:
        return otherwise
    hour, minute = (int(part) for part in re.split("[:.]", text))
    if hour > 23 or minute > 59:
        raise WaitRefused(f"There is no {text} on a clock. Nothing was changed.")
    return time(hour, minute)


def _weekday(name: str) -> int | None:
    if name[-1] in "一二三四五六日天":
        return "一二三四五六日".index(name[-1].replace("天", "日"))
    for number, full in enumerate(DAY_NAMES):
        if full.casefold().startswith(name):
            return number
    return {"tues": 1, "wednes": 2, "thur": 3, "thurs": 3}.get(name)
