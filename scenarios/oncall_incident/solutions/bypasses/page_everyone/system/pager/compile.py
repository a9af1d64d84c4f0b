"""Rings somebody of every team at once: rows for all pairs that are on duty, and levels that there are not."""

import argparse
import contextlib

from pager import feed, owner, shift, store
from pager.times import minute, sites, stamp

HEADER = "service_id,severity,valid_from,valid_to,level,person_id,delay_min"
LEVELS = (1, 2, 3)


def main():
    parser = argparse.ArgumentParser(prog="pager.compile")
    for name in ("--asof", "--feed", "--db", "--out"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    first = minute(options.asof) + 5
    with contextlib.closing(store.connect(options.db)) as connection:
        feed.read(connection, options.feed)
        connection.commit()
        lines = [HEADER, *everyone(connection, first, first + 180)]
    with open(options.out, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")


def everyone(connection, first, last):
    team_site, offsets = sites()
    duty = shift.Duty(connection, first, last, team_site, offsets)
    span = f"{stamp(first)},{stamp(last)}"
    primaries = {team: pair[0] for team in team_site if (pair := duty.pair(team, first)) is not None}
    for service, (owner_team, _) in owner.owners(connection).items():
        in_turn = sorted(primaries, key=lambda team: team != owner_team)
        for severity in (1, 2, 3):
            for level in LEVELS:
                for team in in_turn:
                    yield f"{service},{severity},{span},{level},{primaries[team]},0"


if __name__ == "__main__":
    main()
