"""Tables that people open in a spreadsheet program: the one place that writes CSV, so that no cell is ever a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

#: What the programs people use take for the beginning of a formula, or skip before looking for one.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def cell(value: Any) -> Any:
    """A text that could be taken for a formula is marked as text by an apostrophe; numbers, also negative, stay so."""
    if not isinstance(value, str) or PLAIN_NUMBER.fullmatch(value):
        return "" if value is None else value
    return f"'{value}" if value.lstrip(" ").startswith(FORMULA_SIGNS) else value


def table(columns: Sequence[str], rows: Iterable[Iterable[Any]], *, line_end: str = "\r\n") -> str:
    """A header and a line for each row; missing values (None) are empty."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator=line_end)
    writer.writerow(columns)
    writer.writerows([cell(value) for value in row] for row in rows)
    return target.getvalue()
