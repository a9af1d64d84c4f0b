"""Close a month: the operator's own hours are taken off each stop, one claim file for each rig."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

from npt import store
from npt.contract import Settlement, hours_of
from npt.month_end import MonthEnd, Row


class Deducting(MonthEnd):
    """Takes what the operator did for itself off the hours of a stop, wherever it lies."""

    def _row(self, settlement: Settlement) -> Row | None:
        row = super()._row(settlement)
        own_use = [(part.start, part.end) for part in settlement.stop.parts if part.kind == "own_use"]
        if row is None or row.hours <= hours_of(own_use):
            return None
        return replace(row, hours=row.hours - hours_of(own_use))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="npt.close", description="Write the claims of a month, one file per rig.")
    parser.add_argument("--month", required=True, help="YYYY-MM")
    parser.add_argument("--db", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args(arguments)
    db = store.connect(options.db)
    try:
        Deducting(db, date.fromisoformat(f"{options.month}-01")).write(Path(options.out))
    finally:
        db.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
