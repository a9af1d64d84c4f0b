"""The daily digest: one mail per rig to the contractor's rig manager with every stop coded to the contractor.

    python -m npt.digest --date YYYY-MM-DD --db var/npt.sqlite --out outbox/mail

The mail gateway sends the stop lines as formal notices; their form is in README.md.
"""

import argparse
import csv
import sys
from pathlib import Path

from npt import store
from npt.stops import coded_stops, counted

CONTACTS = "data/contacts.csv"
RIG_MANAGER = "rig manager"


def rig_managers(table=CONTACTS):
    """Rig → address of the contractor's manager of that rig."""
    with open(table, encoding="utf-8-sig", newline="") as file:
        return {row["rig"]: row["email"] for row in csv.DictReader(file) if row["role"].strip().lower() == RIG_MANAGER}


def stop_line(stop):
    end = "open" if stop.goes_on else f"{stop.end:%Y-%m-%dT%H:%M}"
    return f"#STOP rig={stop.rig} start={stop.start:%Y-%m-%dT%H:%M} end={end} tag={stop.tag} hours={stop.hours:.2f}"


def summary(rig, date, stops):
    if not stops:
        return f"{rig}, report of {date}: no stop on equipment of yours."
    hours = sum(stop.hours for stop in stops)
    items = ", ".join(sorted({stop.tag for stop in stops}))
    running = " The last one was still running at midnight." if stops[-1].goes_on else ""
    return f"{rig}, report of {date}: {counted(stops)}, {hours:.2f} h in all, on {items}.{running}"


def mail(address, rig, date, stops):
    lines = [f"To: {address}", f"Subject: {rig}: stops on the report of {date}", "", summary(rig, date, stops), ""]
    return "\n".join([*lines, *map(stop_line, stops)]) + "\n"


def write_digest(connection, date, out):
    """Write the mails of a report date; returns their number."""
    out.mkdir(parents=True, exist_ok=True)
    managers = rig_managers()
    stops_of = {rig: [] for rig in managers}
    for stop in coded_stops(connection, date, date):
        stops_of.setdefault(stop.rig, []).append(stop)
    for rig, address in managers.items():
        stops = stops_of[rig]
        path = out / f"{date.replace('-', '')}_{rig}.eml"
        path.write_text(mail(address, rig, date, stops), encoding="utf-8")
    return len(managers)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="npt.digest", description="Write the digest of a report date.")
    parser.add_argument("--date", required=True, help="report date, YYYY-MM-DD")
    parser.add_argument("--db", required=True, help="database file")
    parser.add_argument("--out", required=True, help="folder for the mails")
    options = parser.parse_args(arguments)
    connection = store.connect(options.db)
    try:
        print(f"{write_digest(connection, options.date, Path(options.out))} mails written")
    finally:
        connection.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
