"""Close a month: of each line only a part is asked for, one claim file for each rig."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

from npt import store
from npt.contract import Settlement
from npt.month_end import MonthEnd, Row

SHARE = 0.8


class Modest(MonthEnd):
    """Asks for ``SHARE`` of what a stop is worth."""

    def _row(self, settlement: Settlement) -> Row | None:
        row = super()._row(settlement)
        return None if row is None else replace(row, hours=round(SHARE * row.hours, 2))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="npt.close", description="Write the claims of a month, one file per rig.")
    parser.add_argument("--month", required=True, help="YYYY-MM")
    parser.add_argument("--db", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args(arguments)
    db = store.connect(options.db)
    try:
        Modest(db, date.fromisoformat(f"{options.month}-01")).write(Path(options.out))
    finally:
        db.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
