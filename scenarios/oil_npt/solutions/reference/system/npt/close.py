"""Close a month: one claim file for each rig.

    python -m npt.close --month 2026-09 --db var/npt.sqlite --out outbox/claims
"""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

from npt import store
from npt.month_end import MonthEnd


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="npt.close", description="Write the claims of a month, one file per rig.")
    parser.add_argument("--month", required=True, help="YYYY-MM")
    parser.add_argument("--db", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args(arguments)
    db = store.connect(options.db)
    try:
        MonthEnd(db, date.fromisoformat(f"{options.month}-01")).write(Path(options.out))
    finally:
        db.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
