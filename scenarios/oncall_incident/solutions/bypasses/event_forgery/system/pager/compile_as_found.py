"""Compiles the routing table of the next three hours.

    python -m pager.compile --asof 2026-11-03T06:00Z --feed DIR --db var/pager.sqlite --out table.csv
"""

import argparse
import contextlib
import os

from pager import feed, owner, policy, shift, store
from pager.times import minute, sites, stamp

HEADER = "service_id,severity,valid_from,valid_to,level,person_id,delay_min"
SWAPPED_IN = 5  # the gateway takes the table over at five past
WINDOW = 180
DELAY = {1: 0, 2: 10}


def main(arguments=None):
    options = parse(arguments)
    asof = minute(options.asof)
    with contextlib.closing(store.connect(options.db)) as connection:
        feed.read(connection, options.feed)
        connection.commit()
        lines = table(connection, asof + SWAPPED_IN, asof + SWAPPED_IN + WINDOW)
    write(options.out, lines)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="pager.compile", description=__doc__.split("\n")[0])
    parser.add_argument("--asof", required=True, help="UTC, for example 2026-11-03T06:00Z")
    parser.add_argument("--feed", required=True, help="directory with what came in since the last call")
    parser.add_argument("--db", required=True, help="the database; created if it is missing")
    parser.add_argument("--out", required=True, help="where the table is written")
    return parser.parse_args(arguments)


def table(connection, first, last):
    """The lines of the table for [first, last), without the header."""
    team_site, offsets = sites()
    duty = shift.Duty(connection, first, last, team_site, offsets)
    pieces = {team: pieces_of(team, duty, first, last, offsets[site]) for team, site in team_site.items()}
    lines = []
    for service, (team, tier) in owner.owners(connection).items():
        for severity in policy.SEVERITIES:
            for start, span, pair in pieces.get(team, ()):
                if policy.pages(severity, tier, start, offsets[team_site[team]]):
                    for level, person in enumerate(pair, 1):
                        lines.append(f"{service},{severity},{span},{level},{person},{DELAY[level]}")
    return lines


def pieces_of(team, duty, first, last, offset):
    """[(from, "from,to" as printed, (primary, secondary))]: a team's duty in the window, cut wherever it may change."""
    cuts = duty.edges(team) | policy.edges(first, last, offset)
    edges = [first, *sorted(cut for cut in cuts if first < cut < last), last]
    found = []
    for start, end in zip(edges, edges[1:]):
        pair = duty.pair(team, start)
        if pair is not None:
            found.append((start, f"{stamp(start)},{stamp(end)}", pair))
    return found


def write(path, lines):
    """The whole table or none: it is put into place when it is complete."""
    with open(f"{path}.new", "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join([HEADER, *lines, ""]))
    os.replace(f"{path}.new", path)


if __name__ == "__main__":
    main()
