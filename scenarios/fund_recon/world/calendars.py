"""Business days of the house and of the two custodians, as positions in one list of days."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Literal

Custodian = Literal["NGC", "BDL"]

_HOUSE_HOLIDAYS = frozenset({
    date(2026, 4, 3), date(2026, 4, 6), date(2026, 5, 1), date(2026, 5, 14), date(2026, 5, 25),
    date(2026, 12, 24), date(2026, 12, 25), date(2027, 1, 1), date(2027, 3, 26), date(2027, 3, 29),
})  # fmt: skip
#: days on which one custodian is closed while the house and the other one work
_CUSTODIAN_HOLIDAYS: Mapping[Custodian, frozenset[date]] = {
    "NGC": frozenset({date(2026, 5, 4), date(2026, 8, 31), date(2026, 12, 28), date(2027, 5, 3)}),
    "BDL": frozenset({date(2026, 6, 23), date(2026, 7, 14), date(2026, 11, 11), date(2027, 5, 6)}),
}
_FIRST, _LAST = date(2026, 3, 2), date(2027, 7, 30)

DAYS: tuple[date, ...] = tuple(
    day
    for offset in range((_LAST - _FIRST).days + 1)
    if (day := _FIRST + timedelta(days=offset)).weekday() < 5 and day not in _HOUSE_HOLIDAYS
)
INDEX: Mapping[date, int] = {day: index for index, day in enumerate(DAYS)}

HISTORY = (INDEX[date(2026, 4, 1)], INDEX[date(2026, 9, 30)])  #: first and last morning shown
WARM_UP = (INDEX[date(2026, 10, 1)], INDEX[date(2026, 10, 30)])
GRADED = (INDEX[date(2026, 11, 2)], INDEX[date(2027, 5, 7)])


def index_from(day: date) -> int:
    """The position of ``day``, or of the next business day."""
    while day not in INDEX:
        day += timedelta(days=1)
    return INDEX[day]


def is_open(custodian: Custodian, index: int) -> bool:
    return DAYS[index] not in _CUSTODIAN_HOLIDAYS[custodian]


def open_after(custodian: Custodian, index: int, days: int) -> int:
    """The position of the ``days``-th day after ``index`` on which the custodian works."""
    while days > 0:
        index += 1
        days -= is_open(custodian, index)
    return index
