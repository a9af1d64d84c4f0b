"""Working days, public holidays of the countries of delivery, and the counting of periods."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from datetime import date, timedelta

YEARS = (2025, 2026, 2027)
SUNDAY = 6
ONE_DAY = timedelta(days=1)

_FIXED: dict[str, tuple[tuple[int, int, str], ...]] = {
    "NL": ((4, 27, "Koningsdag"), (12, 25, "Kerstmis"), (12, 26, "Tweede kerstdag")),
    "BE": (
        (5, 1, "Dag van de Arbeid"),
        (7, 21, "Nationale feestdag"),
        (8, 15, "O.L.V. Hemelvaart"),
        (11, 1, "Allerheiligen"),
        (11, 11, "Wapenstilstand"),
        (12, 25, "Kerstmis"),
    ),
    "DE": (
        (5, 1, "Tag der Arbeit"),
        (10, 3, "Tag der Deutschen Einheit"),
        (12, 25, "1. Weihnachtstag"),
        (12, 26, "2. Weihnachtstag"),
    ),
    "FR": (
        (5, 1, "Fête du travail"),
        (5, 8, "Victoire 1945"),
        (7, 14, "Fête nationale"),
        (8, 15, "Assomption"),
        (11, 1, "Toussaint"),
        (11, 11, "Armistice"),
        (12, 25, "Noël"),
    ),
    "AT": (
        (1, 6, "Heilige Drei Könige"),
        (5, 1, "Staatsfeiertag"),
        (8, 15, "Mariä Himmelfahrt"),
        (10, 26, "Nationalfeiertag"),
        (11, 1, "Allerheiligen"),
        (12, 8, "Mariä Empfängnis"),
        (12, 25, "Christtag"),
        (12, 26, "Stefanitag"),
    ),
    "PL": (
        (1, 6, "Trzech Króli"),
        (5, 1, "Święto Pracy"),
        (5, 3, "Święto Konstytucji"),
        (8, 15, "Wniebowzięcie NMP"),
        (11, 1, "Wszystkich Świętych"),
        (11, 11, "Święto Niepodległości"),
        (12, 25, "Boże Narodzenie"),
        (12, 26, "Drugi dzień świąt"),
    ),
    "CZ": (
        (5, 1, "Svátek práce"),
        (5, 8, "Den vítězství"),
        (7, 6, "Jan Hus"),
        (9, 28, "Den české státnosti"),
        (10, 28, "Vznik Československa"),
        (11, 17, "Den boje za svobodu"),
        (12, 24, "Štědrý den"),
        (12, 25, "1. svátek vánoční"),
        (12, 26, "2. svátek vánoční"),
    ),
    "DK": ((6, 5, "Grundlovsdag"), (12, 24, "Juleaften"), (12, 25, "Juledag"), (12, 26, "2. juledag")),
    "GB": ((12, 25, "Christmas Day"), (12, 26, "Boxing Day")),
    "IE": ((3, 17, "St Patrick's Day"), (12, 25, "Christmas Day"), (12, 26, "St Stephen's Day")),
    "FI": (
        (1, 6, "Loppiainen"),
        (5, 1, "Vappu"),
        (12, 6, "Itsenäisyyspäivä"),
        (12, 25, "Joulupäivä"),
        (12, 26, "Tapaninpäivä"),
    ),
    "TR": (
        (4, 23, "Ulusal Egemenlik"),
        (5, 1, "Emek Bayramı"),
        (5, 19, "Gençlik Bayramı"),
        (8, 30, "Zafer Bayramı"),
        (10, 29, "Cumhuriyet Bayramı"),
    ),
}
_NO_EASTER = frozenset({"TR"})


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar."""
    golden, century = year % 19, year // 100
    epact = (century - century // 4 - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    full = epact - (epact // 28) * (1 - (29 // (epact + 1)) * ((21 - golden) // 11))
    weekday = (year + year // 4 + full + 2 - century + century // 4) % 7
    offset = full - weekday
    month = 3 + (offset + 40) // 44
    return date(year, month, offset + 28 - 31 * (month // 4))


@functools.cache
def holidays() -> tuple[tuple[str, date, str], ...]:
    """(country, day, name) of every public holiday, by country and day."""
    found: list[tuple[str, date, str]] = []
    for country, fixed in _FIXED.items():
        for year in YEARS:
            found.append((country, date(year, 1, 1), "New Year's Day"))
            found += [(country, date(year, month, day), name) for month, day, name in fixed]
            if country not in _NO_EASTER:
                found.append((country, _easter(year) + ONE_DAY, "Easter Monday"))
    return tuple(sorted(found))


@functools.cache
def _closed() -> frozenset[tuple[str, date]]:
    return frozenset((country, day) for country, day, _ in holidays())


def counts(country: str, day: date) -> bool:
    """Whether a day counts where Sundays and public holidays of the place of delivery are left out."""
    return day.weekday() != SUNDAY and (country, day) not in _closed()


def counted_days(country: str, delivered: date, notice: date) -> int:
    """Days after delivery up to the notice, Sundays and public holidays left out."""
    return sum(counts(country, delivered + timedelta(days=n)) for n in range(1, (notice - delivered).days + 1))


def delivered_before(country: str, notice: date, days: int) -> date:
    """A day of delivery, no Sunday or holiday, that lies ``days`` counted days before the notice."""
    day = notice
    while days > 0:
        days -= counts(country, day)
        day -= ONE_DAY
    while not counts(country, day):
        day -= ONE_DAY
    return day


def working_days(first: date, number: int) -> list[date]:
    """Mondays to Fridays from ``first`` on; the desk works on holidays."""
    return list(_working(first, number))


def _working(first: date, number: int) -> Iterator[date]:
    day = first
    while number > 0:
        if day.weekday() < 5:
            yield day
            number -= 1
        day += ONE_DAY
