"""Close a month: one claim file per rig.

    python -m npt.close --month YYYY-MM --db var/npt.sqlite --out outbox/claims

Coding guide v3: repair lines of the month in the order of time, less the monthly allowance of ``config/contract.toml``.
"""

import argparse
import csv
import sys
import tomllib
from datetime import datetime, timedelta
from pathlib import Path

from npt import alias, coder, store

CONTRACT = "config/contract.toml"
COLUMNS = (
    "line_no", "rig_id", "claim_month", "start", "end", "equipment_tag", "hours", "status", "clause", "evidence", "note",
)
CLAUSE = "14.2"
SMALLEST_CLAIM_H = 0.005


def moment(report_date, clock):
    """A report's date and its clock time as a date and time; ``24:00`` is the next midnight."""
    hours, minutes = clock.split(":")
    return datetime.fromisoformat(report_date) + timedelta(hours=int(hours), minutes=int(minutes))


def contractor_lines(connection, month):
    """Lines of the month that count against the contractor, by rig, in the order of time."""
    rows = connection.execute(
        "SELECT report_id, rig_id, report_date, rev, t_from, t_to, hours, op_code, remark FROM ddr_line"
        " WHERE report_date >= ? AND report_date <= ? AND op_code = ? ORDER BY rig_id, report_date, t_from",
        (f"{month}-01", f"{month}-31", coder.RIG_REPAIR),
    )
    return [row for row in rows if coder.is_contractor_downtime(row["op_code"], row["remark"])]


def claim_lines(lines, allowance_h):
    """What is left of each line once the month's allowance is used up, with the hours claimed."""
    left = allowance_h
    for line in lines:
        free = min(left, line["hours"])
        left -= free
        hours = line["hours"] - free
        if hours >= SMALLEST_CLAIM_H:
            yield line, hours


def claim_row(number, line, hours, month):
    return (
        number,
        line["rig_id"],
        month,
        moment(line["report_date"], line["t_from"]).strftime("%Y-%m-%dT%H:%M"),
        moment(line["report_date"], line["t_to"]).strftime("%Y-%m-%dT%H:%M"),
        alias.find_tag(line["rig_id"], line["remark"]) or "",
        f"{hours:.2f}",
        "CLAIM",
        CLAUSE,
        f"{line['report_id']}@{line['rev']}",
        line["remark"][:80].replace(";", ","),
    )


def write_claim(out, rig, month, rows):
    path = Path(out) / f"claim_{rig}_{month.replace('-', '')}.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def close(month, database, out):
    """Write the claims of ``month``, one file for each rig that reported; returns the number of files."""
    with open(CONTRACT, "rb") as file:
        allowance_h = tomllib.load(file)["allowance_h"]
    connection = store.connect(database)
    try:
        rigs = [
            row["rig_id"]
            for row in connection.execute(
                "SELECT DISTINCT rig_id FROM ddr_line WHERE report_date >= ? AND report_date <= ? ORDER BY rig_id",
                (f"{month}-01", f"{month}-31"),
            )
        ]
        lines = contractor_lines(connection, month)
    finally:
        connection.close()
    Path(out).mkdir(parents=True, exist_ok=True)
    for rig in rigs:
        claimed = claim_lines([line for line in lines if line["rig_id"] == rig], allowance_h)
        write_claim(out, rig, month, [claim_row(number, *item, month) for number, item in enumerate(claimed, start=1)])
    return len(rigs)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="npt.close", description="Write the claims of a month.")
    parser.add_argument("--month", required=True, help="YYYY-MM")
    parser.add_argument("--db", required=True, help="database file")
    parser.add_argument("--out", required=True, help="folder for the claim files")
    options = parser.parse_args(arguments)
    print(f"{close(options.month, options.db, options.out)} claims written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
