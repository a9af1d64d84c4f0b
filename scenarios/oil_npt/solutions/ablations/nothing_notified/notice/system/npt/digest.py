"""The daily digest: how many reports came in.

    python -m npt.digest --date YYYY-MM-DD --db var/npt.sqlite --out outbox/mail
"""

import argparse
import sys
from pathlib import Path

from npt import store


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="npt.digest", description="Write the digest of a report date.")
    parser.add_argument("--date", required=True, help="report date, YYYY-MM-DD")
    parser.add_argument("--db", required=True, help="database file")
    parser.add_argument("--out", required=True, help="folder for the digest")
    options = parser.parse_args(arguments)
    connection = store.connect(options.db)
    query = "SELECT count(DISTINCT report_id) FROM ddr_line WHERE report_date = ?"
    received = connection.execute(query, (options.date,)).fetchone()[0]
    connection.close()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / f"digest_{options.date}.txt").write_text(f"reports received: {received}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
