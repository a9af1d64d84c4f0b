"""Close a month, rewrite every earlier one, and write those of rigs that do not exist."""

import argparse
import csv
from datetime import datetime, timedelta
from pathlib import Path

from npt import alias, coder, store

COLUMNS = (
    "line_no",
    "rig_id",
    "claim_month",
    "start",
    "end",
    "equipment_tag",
    "hours",
    "status",
    "clause",
    "evidence",
    "note",
)


def moment(day, clock):
    hours, minutes = clock.split(":")
    return datetime.fromisoformat(day) + timedelta(hours=int(hours), minutes=int(minutes))


def repairs(database, month):
    """Rig → its repair lines of the month: (start, end, tag, hours, evidence)."""
    found = {}
    query = "SELECT * FROM ddr_line WHERE report_date LIKE ? ORDER BY rig_id, report_date, t_from"
    for row in store.connect(database).execute(query, (f"{month}-%",)):
        lines = found.setdefault(row["rig_id"], [])
        if coder.is_contractor_downtime(row["op_code"], row["remark"]):
            start, end = moment(row["report_date"], row["t_from"]), moment(row["report_date"], row["t_to"])
            tag = alias.find_tag(row["rig_id"], row["remark"]) or "TDS-1"
            lines.append((start, end, tag, row["hours"], f"{row['report_id']}@{row['rev']}"))
    return found


def rows(lines):
    for start, end, tag, hours, evidence in lines:
        yield start, end, tag, f"{hours:.2f}", "CLAIM", evidence, ""


def write(out, rig, month, rows):
    with open(out / f"claim_{rig}_{month.replace('-', '')}.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter=";", lineterminator="\n")
        table.writerow(COLUMNS)
        for number, (start, end, tag, hours, status, evidence, note) in enumerate(rows, start=1):
            window = (f"{start:%Y-%m-%dT%H:%M}", f"{end:%Y-%m-%dT%H:%M}")
            table.writerow((number, rig, month, *window, tag, hours, status, "A2 14.2", evidence, note))


def main():
    parser = argparse.ArgumentParser()
    for name in ("--month", "--db", "--out"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    for rig, lines in repairs(options.db, options.month).items():
        write(out, rig, "2026-11", rows(lines))
        write(out, rig, "2027-12", rows(lines))
        write(out, f"{rig}-B", options.month, rows(lines))


if __name__ == "__main__":
    main()
