"""Compiles the routing table of the next three hours.

    python -m pager.compile --asof 2026-11-03T06:00Z --feed DIR --db var/pager.sqlite --out table.csv
"""

import argparse
import contextlib
import os

from pager import feed, owner, policy, rest, shift, store
from pager.times import Clocks, minute, settings, stamp

HEADER = "service_id,severity,valid_from,valid_to,level,person_id,delay_min"
SWAPPED_IN = 5  # the gateway takes the table over at five past
WINDOW = 180
DELAY = {1: 0, 2: 10}


class NobodyOnDuty(Exception):
    """A team that carries a service has no rota row: better no new table than one that pages nobody."""


def main(arguments=None):
    options = parse(arguments)
    connection, fresh = store.connect(options.db)
    with contextlib.closing(connection):
        if fresh:
            feed.take_over(connection)
        feed.read(connection, options.feed)
        connection.commit()
        lines = table(connection, minute(options.asof))
    write(options.out, lines)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="pager.compile", description=__doc__.split("\n")[0])
    parser.add_argument("--asof", required=True, help="UTC, for example 2026-11-03T06:00Z")
    parser.add_argument("--feed", required=True, help="directory with what came in since the last call")
    parser.add_argument("--db", required=True, help="the database; created if it is missing")
    parser.add_argument("--out", required=True, help="where the table is written")
    return parser.parse_args(arguments)


def table(connection, asof):
    """The lines of the table of a compile, without the header."""
    first, last = asof + SWAPPED_IN, asof + SWAPPED_IN + WINDOW
    sites, rules = settings("sites"), settings("rules")
    clocks = Clocks(connection.execute("SELECT site, utc_from, offset_min FROM transition"))
    duty = shift.Duty(connection, first, last, sites, clocks, rules)
    resting = rest.Rest(connection, asof, clocks, rules["rest"])
    pieces = {}
    for team, site in sites["team_site"].items():
        cuts = duty.edges(team) | clocks.edges(site, first, last) | resting.edges()
        pieces[team] = pieces_of(team, site, cut(first, last, cuts), duty, clocks, resting)
    lines = []
    for service, tier, timeline in owner.owners(connection, last, rules["ownership"]):
        lines += service_lines(service, tier, carried(timeline, pieces, first, last))
    return lines


def cut(first, last, edges):
    """[(from, to)] of a window, cut at the edges inside it."""
    inside = [first, *sorted(edge for edge in edges if first < edge < last), last]
    return list(zip(inside, inside[1:]))


def pieces_of(team, site, spans, duty, clocks, resting):
    """[(from, to, "from,to" as printed, (first, second), at night)] of a team."""
    found = []
    for start, end in spans:
        pair = duty.pair(team, start)
        if pair is not None:
            pair = resting.order(pair, start)
            found.append((start, end, f"{stamp(start)},{stamp(end)}", pair, clocks.is_night(site, start)))
    return found


def carried(timeline, pieces, first, last):
    """The pieces of the teams that carry a service in the window, each while it does."""
    if len(timeline) == 1 or timeline[-1][0] <= first:
        return pieces[timeline[-1][1]]
    found = []
    ends = [since for since, _ in timeline[1:]] + [last]
    for (since, team), until in zip(timeline, ends):
        opens, closes = first if since is None else max(first, since), min(last, until)
        for start, end, _, pair, at_night in pieces[team]:
            start, end = max(start, opens), min(end, closes)
            if start < end:
                found.append((start, end, f"{stamp(start)},{stamp(end)}", pair, at_night))
    return found


def service_lines(service, tier, pieces):
    if not pieces:
        raise NobodyOnDuty(service)
    lines = []
    for severity in policy.SEVERITIES:
        for _, _, span, pair, at_night in pieces:
            if policy.pages(severity, tier, at_night):
                for level, person in enumerate(pair, 1):
                    lines.append(f"{service},{severity},{span},{level},{person},{DELAY[level]}")
    return lines


def write(path, lines):
    """The whole table or none: it is put into place when it is complete."""
    with open(f"{path}.new", "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join([HEADER, *lines, ""]))
    os.replace(f"{path}.new", path)


if __name__ == "__main__":
    main()
