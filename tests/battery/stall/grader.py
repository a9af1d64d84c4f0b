"""Ten evenings: the day's sales come, the accounts are read: a table of items and a summary."""

import json

from scenarios.kit.world import Outcome
from scenarios.stall.world import DAYS, ITEMS, as_csv


def table(data):
    """Item → total of a table in which every item stands exactly once, else nothing."""
    try:
        rows = [line.split(";") for line in (data or b"").decode("ascii").splitlines()]
        if rows[0] != ["item", "total"] or sorted(row[0] for row in rows[1:]) != sorted(ITEMS):
            return {}
        return {item: int(total) for item, total in rows[1:]}
    except (ValueError, IndexError):
        return {}


def total(data):
    try:
        found = json.loads(data or b"")
    except (ValueError, RecursionError):
        return None
    value = found.get("total") if isinstance(found, dict) and set(found) == {"total", "items"} else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def replay(production, host):
    points, rows = 0, []
    host.put("state/config.txt", b"currency = EUR\n")
    for day in range(DAYS):
        host.progress(day, DAYS, f"day {day + 1}")
        drop = host.put_drop("drop", {"sales.csv": as_csv(production.days[day])})
        recorded = host.call(["python", "-m", "stall.record", "--drop", drop, "--day", str(day)])
        closed = host.call(["python", "bin/close.py", "--day", str(day)])
        truth = production.truth(day)
        found = {**table(host.read(f"outbox/day_{day}.csv", 1000))}
        found[None] = total(host.read(f"outbox/day_{day}.json", 1000))
        right = sum(found.get(key) == value for key, value in truth.items())
        points += right
        rows.append([day, right, recorded.failure or closed.failure or ""])
    section = {"kind": "table", "title": "Evenings", "columns": ["day", "right", "failure"], "rows": rows, "note": ""}
    return Outcome(float(points), (), (section,), "ten days of spring")
