"""Load a morning's drop: daily drilling reports, and on Mondays rental orders and the equipment register.

    python -m npt.ingest --drop DIR --db var/npt.sqlite

The same drop may be loaded again, and lines may come twice: what is there already stays.
"""

import argparse
import csv
import sys
from pathlib import Path

from npt import store

REPORT_COLUMNS = (
    "report_id", "rig_id", "well", "report_date", "rev", "issued_at", "sign_operator", "sign_contractor", "seq",
    "t_from", "t_to", "hours", "op_code", "sub_code", "phase", "hole_depth_m", "bit_depth_m", "remark",
)
ORDER_COLUMNS = ("order_no", "rig_id", "tag", "description", "vendor", "payer", "on_hire", "off_hire")
EQUIPMENT_COLUMNS = ("rig_id", "tag", "description", "furnished_by", "from_date", "to_date")
NUMBERS = {"rev": int, "seq": int, "op_code": int, "hours": float, "hole_depth_m": float, "bit_depth_m": float}


def read_table(path, columns):
    """Rows of a delimited file as tuples in the order of ``columns``. A leading byte order mark is skipped."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        missing = set(columns) - set(reader.fieldnames or ())
        if missing:
            raise ValueError(f"{path.name}: no column {', '.join(sorted(missing))}")
        for row in reader:
            yield tuple(NUMBERS.get(column, str)(row[column]) for column in columns)


def load_reports(connection, path):
    """Add the lines of a report file. A line that is known by report and number is left as it is."""
    marks = ", ".join("?" * len(REPORT_COLUMNS))
    before = connection.total_changes
    connection.executemany(f"INSERT OR IGNORE INTO ddr_line VALUES ({marks})", read_table(path, REPORT_COLUMNS))
    return connection.total_changes - before


def replace_table(connection, table, path, columns):
    """Replace a table that another department keeps."""
    marks = ", ".join("?" * len(columns))
    connection.execute(f"DELETE FROM {table}")
    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", read_table(path, columns))


def ingest(drop, database):
    """Load everything in ``drop`` in one transaction; returns the number of new report lines."""
    connection = store.connect(database)
    try:
        with connection:
            loaded = sum(load_reports(connection, path) for path in sorted(Path(drop).glob("ddr_*.csv")))
            orders = Path(drop) / "rental_orders.csv"
            if orders.exists():
                replace_table(connection, "rental_order", orders, ORDER_COLUMNS)
            register = Path(drop) / "equipment_register.csv"
            if register.exists():
                replace_table(connection, "equipment", register, EQUIPMENT_COLUMNS)
    finally:
        connection.close()
    return loaded


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="npt.ingest", description="Load a morning's drop of daily reports.")
    parser.add_argument("--drop", required=True, help="folder with ddr_<YYYYMMDD>.csv and, on Mondays, master data")
    parser.add_argument("--db", required=True, help="database file")
    options = parser.parse_args(arguments)
    try:
        loaded = ingest(options.drop, options.db)
    except (OSError, ValueError) as problem:
        print(f"ingest: {problem}. Nothing of this drop was loaded.", file=sys.stderr)
        return 1
    print(f"{loaded} new lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
