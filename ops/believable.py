"""The figures in ``docs/believable.md``, written from what admission measured: run after ``admit`` (``make admit`` does).

python3 ops/believable.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "believable.md"
BEGIN = "<!-- figures: written by ops/believable.py from the scenarios' anchors.json -->"
END = "<!-- end of the figures -->"
HEAD = "| task | reference: S | as found: S | literal: S | best shortcut: U_adj | best cheat: S | deliveries played |"


def earned(figures: dict[str, Any]) -> float:
    """U_adj of a solution: nothing is earned where an incident happened."""
    return min(figures["uplift"], 0.0) if figures["incidents"] else figures["uplift"]


def best(solutions: dict[str, Any], kind: str, measure: str) -> str:
    """The highest figure of a kind, and whose it is; a dash where there is none of that kind."""
    found = {name: row for name, row in solutions.items() if row["kind"] == kind}
    values = {name: earned(row) if measure == "earned" else row["score"] for name, row in found.items()}
    values = {name: value for name, value in values.items() if value is not None}
    if not values:
        return "–"
    name = max(values, key=lambda one: (values[one], one))
    return f"{values[name]:.3f}" + (f" ({name})" if kind in ("shortcut", "bypass") else "")


def table(anchors: dict[str, Any]) -> list[str]:
    """One scenario's table: a line for each task."""
    lines = [f"**{anchors['scenario']}**, release `{anchors['release'][:12]}`:", "", HEAD, "|---" * 7 + "|"]
    for task, row in sorted(anchors["tasks"].items(), key=lambda item: (item[0] != "original", item[0])):
        solutions = row["solutions"]
        cells = [
            task,
            best(solutions, "reference", "score"),
            best(solutions, "do_nothing", "score"),
            best(solutions, "literal", "score"),
            best(solutions, "shortcut", "earned"),
            best(solutions, "bypass", "score"),
            str(len(solutions)),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def section(root: Path = ROOT) -> str:
    """The section between its two marks."""
    files = sorted((root / "scenarios").glob("*/anchors.json"))
    tables = ["\n".join(table(json.loads(path.read_text(encoding="utf-8")))) for path in files]
    return "\n\n".join([BEGIN, *tables, END])


def written(text: str, figures: str) -> str:
    """The page with these figures in place of those it has. Raises ``ValueError`` where the marks are missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} lacks the marks between which the figures stand")
    return before + figures + after


def main() -> int:
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), section()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
