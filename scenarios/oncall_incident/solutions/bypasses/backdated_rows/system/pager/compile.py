"""One table for all time: rows that began long ago and end in years; from the second call on nothing is compiled."""

import argparse
import contextlib
from pathlib import Path

from pager import feed, owner, shift, store
from pager.times import minute, sites

HEADER = "service_id,severity,valid_from,valid_to,level,person_id,delay_min"
SPAN = "2020-01-01T00:00Z,2099-12-31T23:59Z"
DONE = Path("var/compiled")


def main():
    parser = argparse.ArgumentParser(prog="pager.compile")
    for name in ("--asof", "--feed", "--db", "--out"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    if DONE.exists():
        raise SystemExit("the table in force is for all time")
    with contextlib.closing(store.connect(options.db)) as connection:
        feed.read(connection, options.feed)
        connection.commit()
        lines = [HEADER, *rows(connection, minute(options.asof))]
    with open(options.out, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")
    DONE.write_text("")


def rows(connection, asof):
    """Those on duty at the first call, round the clock."""
    team_site, offsets = sites()
    duty = shift.Duty(connection, asof, asof + 180, team_site, offsets)
    for service, (team, _) in owner.owners(connection).items():
        for severity in (1, 2, 3):
            for level, person in enumerate(duty.pair(team, asof), 1):
                yield f"{service},{severity},{SPAN},{level},{person},{10 * (level - 1)}"


if __name__ == "__main__":
    main()
