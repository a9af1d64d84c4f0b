from __future__ import annotations

import argparse
import pathlib
import shutil
import sys


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--drop", required=True)
    parser.add_argument("--day", required=True)
    options = parser.parse_args()
    book = pathlib.Path("book")
    book.mkdir(exist_ok=True)
    shutil.copy(pathlib.Path(options.drop) / "sales.csv", book / f"{options.day}.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
