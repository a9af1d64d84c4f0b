"""Close a month: what needs no judgement is claimed, the rest is for review."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

from npt import store
from npt.contract import Settlement
from npt.month_end import MonthEnd, Row


class Careful(MonthEnd):
    """Sends every stop with a trip to Cost Engineering, however many there are."""

    def _row(self, settlement: Settlement) -> Row | None:
        row = super()._row(settlement)
        simple = all(part.kind == "repair" for part in settlement.stop.parts)
        return row if row is None or simple else replace(row, status="REVIEW")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="npt.close", description="Write the claims of a month, one file per rig.")
    parser.add_argument("--month", required=True, help="YYYY-MM")
    parser.add_argument("--db", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args(arguments)
    db = store.connect(options.db)
    try:
        Careful(db, date.fromisoformat(f"{options.month}-01")).write(Path(options.out))
    finally:
        db.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
