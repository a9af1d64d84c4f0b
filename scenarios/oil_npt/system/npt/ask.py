"""The "ask your wells" box of the intranet calls this; nobody has written it yet.

    python -m npt.ask --question TEXT --db var/npt.sqlite
"""

import argparse
import sys


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="npt.ask", description="Answer a question about hours, stops and rigs.")
    parser.add_argument("--question", required=True)
    parser.add_argument("--db", required=True, help="database file")
    parser.parse_args(arguments)
    print("Not available.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
