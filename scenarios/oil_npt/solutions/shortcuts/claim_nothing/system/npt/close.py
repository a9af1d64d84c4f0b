"""Close a month without a line: one empty claim file for each rig."""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

from npt import store
from npt.contract import Settlement
from npt.month_end import MonthEnd, Row


class Silent(MonthEnd):
    """Claims nothing."""

    def _row(self, settlement: Settlement) -> Row | None:
        return None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="npt.close", description="Write the claims of a month, one file per rig.")
    parser.add_argument("--month", required=True, help="YYYY-MM")
    parser.add_argument("--db", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args(arguments)
    db = store.connect(options.db)
    try:
        Silent(db, date.fromisoformat(f"{options.month}-01")).write(Path(options.out))
    finally:
        db.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
