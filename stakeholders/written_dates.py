"""Dates as people write them, in English and Chinese: 14 July, July 14th, 2026-07-14, 14/07, 7月14日."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from stakeholders.calendar import MONTH_NAMES
from stakeholders.plain_text import Span, normalise

_MONTHS = tuple(name.casefold() for name in MONTH_NAMES)
_MONTH_OF = {name: number for number, full in enumerate(_MONTHS, start=1) for name in (full, full[:3])} | {"sept": 9}
_NAME = "(?P<name>" + "|".join(sorted(_MONTH_OF, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?P<ordinal>st|nd|rd|th)?"
_YEAR = r"(?:[\s,/-]+(?P<year>(?:19|20)\d{2}))?(?!\d)"
_FREE = r"(?<![A-Za-z0-9./-])"
_CHINESE = "〇零一二三四五六七八九十"

_ISO = re.compile(
    r"(?<![A-Za-z0-9/-])(?P<year>(?:19|20)\d{2})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?!\d)"
)
_COMPACT = re.compile(r"(?<![A-Za-z0-9])(?P<year>20\d{2})(?P<month>[01]\d)(?P<day>[0-3]\d)(?![A-Za-z0-9])")
_DAY_FIRST = re.compile(rf"{_FREE}{_DAY}(?:\s*(?P<of>of)\s+|[\s-]*){_NAME}{_YEAR}", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"(?<![A-Za-z0-9]){_NAME}[\s-]*(?:the\s+)?{_DAY}(?![\d:%]|[.,]\d){_YEAR}", re.IGNORECASE)
_SLASHED = re.compile(
    r"(?<![A-Za-z0-9/.-])(?P<a>\d{1,2})(?P<sep>[/.])(?P<b>\d{1,2})(?:(?P=sep)(?P<year>(?:20)?\d{2}))?(?![\d/]|[.]\d|\s+of\b)"
)
_CHINESE_DATE = re.compile(
    rf"(?:(?P<year>(?:19|20)\d{{2}})\s*年\s*)?(?P<month>\d{{1,2}}|[{_CHINESE}]{{1,2}})\s*月\s*"
    rf"(?P<day>\d{{1,2}}|[{_CHINESE}]{{1,3}})\s*[日号]"
)


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date in a text. Each reading is (year or None, month, day); 07/08 has two."""

    span: Span
    readings: tuple[tuple[int | None, int, int], ...]

    def means(self, day: date) -> bool:
        return any((year is None or year == day.year) and (month, number) == (day.month, day.day)
                   for year, month, number in self.readings)  # fmt: skip


def find_dates(text: str) -> list[WrittenDate]:
    """Every date of a normalised text, in order, none overlapping another."""
    found: list[WrittenDate] = []
    for pattern, read in (
        (_ISO, _read_numbers), (_COMPACT, _read_numbers), (_CHINESE_DATE, _read_chinese),
        (_DAY_FIRST, _read_named), (_MONTH_FIRST, _read_named), (_SLASHED, _read_slashed),
    ):  # fmt: skip
        for match in pattern.finditer(text):
            span = Span(*match.span())
            readings = tuple(reading for reading in read(match) if _exists(reading))
            if readings and not any(span.overlaps(other.span) for other in found):
                found.append(WrittenDate(span, readings))
    return sorted(found, key=lambda written: written.span.start)


def read_date(text: str) -> WrittenDate | None:
    """The date that the whole text is, or None."""
    found = find_dates(normalise(text).strip())
    return found[0] if len(found) == 1 else None


Reading = tuple[int | None, int, int]


def _exists(reading: Reading) -> bool:
    year, month, day = reading
    try:
        date(2024 if year is None else year, month, day)
    except ValueError:
        return False
    return True


def _year(text: str | None) -> int | None:
    return None if text is None else int(text) + (2000 if len(text) == 2 else 0)


def _read_numbers(match: re.Match[str]) -> list[Reading]:
    return [(int(match["year"]), int(match["month"]), int(match["day"]))]


def _read_named(match: re.Match[str]) -> list[Reading]:
    name = match["name"]
    plain = match["ordinal"] is None and match.groupdict().get("of") is None and match["year"] is None
    if name == "may" and plain:  # "4 may be" is a line that may be, not the fourth of May
        return []
    return [(_year(match["year"]), _MONTH_OF[name.casefold()], int(match["day"]))]


def _read_slashed(match: re.Match[str]) -> list[Reading]:
    if match["sep"] == "." and match["year"] is None:  # 14.2 is a clause or a number
        return []
    first, second, year = int(match["a"]), int(match["b"]), _year(match["year"])
    readings = [(year, second, first), (year, first, second)]
    return readings if first != second else readings[:1]


def _read_chinese(match: re.Match[str]) -> list[Reading]:
    return [(_year(match["year"]), _small_number(match["month"]), _small_number(match["day"]))]


def _small_number(text: str) -> int:
    """A number below 100 in digits or Chinese characters; 0 if it is none."""
    if text.isdigit() and text.isascii():
        return int(text)
    digits = "零一二三四五六七八九"
    tens, has_ten, ones = text.replace("〇", "零").rpartition("十")
    if any(len(part) > 1 or part not in digits for part in (tens, ones)):
        return 0
    value = digits.index(ones) if ones else 0
    return value + (10 * (digits.index(tens) if tens else 1) if has_ten else 0)
