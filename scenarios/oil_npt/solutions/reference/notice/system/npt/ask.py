"""The "ask your wells" box: plain answers about hours, stops and rigs, from the coded stops.

    python -m npt.ask --question TEXT --db var/npt.sqlite

Finds out which rig, item and time a question is about, counts, and answers in a sentence. No model is needed for that;
the gateway words the answer anew where it is connected.
"""

import argparse
import re
import sys
from collections import Counter
from datetime import date, timedelta

from npt import alias, gateway, store
from npt.stops import coded_stops, counted

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)


def period_of(question, latest):
    """(first day, last day, words) that the question is about; the last thirty days unless it says otherwise."""
    text = question.lower()
    day = re.search(r"\d{4}-\d{2}-\d{2}", text)
    if day:
        return day.group(), day.group(), f"on {day.group()}"
    if "yesterday" in text or "last night" in text:
        return latest.isoformat(), latest.isoformat(), f"on the report of {latest}"
    if "this week" in text:
        monday = latest - timedelta(days=latest.weekday())
        return monday.isoformat(), latest.isoformat(), "this week"
    if "this year" in text:
        return f"{latest.year}-01-01", latest.isoformat(), f"in {latest.year}"
    for number, name in enumerate(MONTHS, start=1):
        if re.search(rf"\b{name}\b", text):
            year = latest.year if number <= latest.month else latest.year - 1
            return f"{year}-{number:02d}-01", f"{year}-{number:02d}-31", f"in {name.capitalize()} {year}"
    return (latest - timedelta(days=29)).isoformat(), latest.isoformat(), "in the last thirty days"


def answer(connection, question):
    """One or two sentences."""
    newest = connection.execute("SELECT max(report_date) FROM ddr_line").fetchone()[0]
    if newest is None:
        return "No report has been loaded yet."
    first, last, words = period_of(question, date.fromisoformat(newest))
    rigs = [row["rig_id"] for row in connection.execute("SELECT DISTINCT rig_id FROM ddr_line ORDER BY rig_id")]
    rig = next((name for name in rigs if name.lower() in question.lower()), None)
    stops = coded_stops(connection, first, last, rig)
    tag = alias.find_tag(rig or rigs[0], question)
    if tag:
        stops = [stop for stop in stops if stop.tag == tag]
    where = f"{rig or 'All rigs'}{f', {tag}' if tag else ''}"
    if not stops:
        return f"{where}: no stop coded to the contractor {words}."
    hours = sum(stop.hours for stop in stops)
    longest = max(stops, key=lambda stop: stop.hours)
    by_rig = Counter()
    for stop in stops:
        by_rig[stop.rig] += stop.hours
    busiest = "" if rig else f" Most of it on {by_rig.most_common(1)[0][0]}."
    return (
        f"{where}: {counted(stops)} and {hours:.2f} h coded to the contractor {words}.{busiest} The longest was"
        f" {longest.tag} on {longest.rig} at {longest.start:%d %b %H:%M}, {longest.hours:.2f} h."
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="npt.ask", description="Answer a question about hours, stops and rigs.")
    parser.add_argument("--question", required=True)
    parser.add_argument("--db", required=True, help="database file")
    options = parser.parse_args(arguments)
    connection = store.connect(options.db)
    try:
        text = answer(connection, options.question)
    finally:
        connection.close()
    try:
        text = gateway.complete(f"Say this in plain words to a drilling manager, change no figure: {text}") or text
    except gateway.GatewayUnavailable:
        pass
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
