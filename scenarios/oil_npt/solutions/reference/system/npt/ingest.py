"""Load a morning's drop: daily drilling reports, and on Mondays rental orders and the equipment register.

    python -m npt.ingest --drop DIR --db var/npt.sqlite

The same drop may be loaded again, and lines may come twice: what is there already stays. Every revision of a report is
kept with who signed it; ``record`` decides which one counts.
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
HEAD = ("report_id", "rev", "rig_id", "report_date")
LINE = ("report_id", "rev", "seq", "t_from", "t_to", "op_code", "sub_code", "bit_depth_m", "remark")
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
    """Add the lines of a report file, each revision under its own number. What is known already is left as it is."""
    column = {name: position for position, name in enumerate(REPORT_COLUMNS)}
    rows = list(read_table(path, REPORT_COLUMNS))
    marks = ", ".join("?" * len(REPORT_COLUMNS))
    connection.executemany(f"INSERT OR IGNORE INTO ddr_line VALUES ({marks})", rows)
    heads = {tuple(row[column[name]] for name in HEAD) + (is_joint(row, column),) for row in rows}
    connection.executemany("INSERT OR IGNORE INTO report VALUES (?, ?, ?, ?, ?)", sorted(heads))
    marks = ", ".join("?" * len(LINE))
    lines = [tuple(row[column[name]] for name in LINE) for row in rows]
    before = connection.total_changes
    connection.executemany(f"INSERT OR IGNORE INTO report_line VALUES ({marks})", lines)
    return connection.total_changes - before


def is_joint(row, column):
    """Whether both sides signed."""
    return bool(row[column["sign_operator"]].strip() and row[column["sign_contractor"]].strip())


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
