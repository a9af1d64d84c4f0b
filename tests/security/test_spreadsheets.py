"""No cell of a table that the site writes is a formula to a spreadsheet program."""

from __future__ import annotations

import ast
import csv
import io
from pathlib import Path
from typing import Any

import pytest

from fdegym.lib.spreadsheets import cell, table

ROOT = Path(__file__).resolve().parents[2]
#: Writes data of simulated customers for programs, never for a person's spreadsheet program.
DATA = {"scenarios/kit/tables.py"}


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        '=HYPERLINK("http://evil.example")',
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        "＝1+1",
        "-",
    ],
)
def test_what_could_be_a_formula_is_text(text: str) -> None:
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize(
    "value", ["", "Ada", "a=b", "-3.25", "12", "5 o'clock", 0, -3.25, True, "2026-10-05T14:00+02:00"]
)
def test_everything_else_stays_as_it_is_also_numbers_below_zero(value: Any) -> None:
    assert cell(value) == value


def test_a_table_guards_every_cell_and_leaves_what_is_missing_empty() -> None:
    written = table(("name", "score"), [("=cmd|' /C calc'!A0", None), ("two\r\nlines, and a comma", -1)])
    assert list(csv.reader(io.StringIO(written, newline=""))) == [
        ["name", "score"],
        ["'=cmd|' /C calc'!A0", ""],
        ["two\r\nlines, and a comma", "-1"],
    ]


def test_nothing_else_of_the_site_writes_csv() -> None:
    writing = set()
    for folder in ("platform", "stakeholders", "workspaces", "grading", "ops", "scenarios/kit"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            names = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
            if names & {"DictWriter"} or "csv.writer(" in path.read_text():
                writing.add(path.relative_to(ROOT).as_posix())
    assert writing == DATA | {"platform/fdegym/lib/spreadsheets.py"}
