"""Close a month: every stop is for review, one file for each rig."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

from npt import store
from npt.contract import Settlement
from npt.month_end import MonthEnd, Row


class Deferring(MonthEnd):
    """Claims nothing; all lines go to Cost Engineering, however many there are."""

    def _row(self, settlement: Settlement) -> Row | None:
        row = super()._row(settlement)
        return None if row is None else replace(row, status="REVIEW")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="npt.close", description="Write the claims of a month, one file per rig.")
    parser.add_argument("--month", required=True, help="YYYY-MM")
    parser.add_argument("--db", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args(arguments)
    db = store.connect(options.db)
    try:
        Deferring(db, date.fromisoformat(f"{options.month}-01")).write(Path(options.out))
    finally:
        db.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
