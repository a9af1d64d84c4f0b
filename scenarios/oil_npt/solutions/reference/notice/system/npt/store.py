"""The database: one file, opened by every entry point."""

import sqlite3
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS ddr_line (
    report_id TEXT NOT NULL,
    rig_id TEXT NOT NULL,
    well TEXT NOT NULL,
    report_date TEXT NOT NULL,
    rev INTEGER NOT NULL,
    issued_at TEXT NOT NULL,
    sign_operator TEXT NOT NULL,
    sign_contractor TEXT NOT NULL,
    seq INTEGER NOT NULL,
    t_from TEXT NOT NULL,
    t_to TEXT NOT NULL,
    hours REAL NOT NULL,
    op_code INTEGER NOT NULL,
    sub_code TEXT NOT NULL,
    phase TEXT NOT NULL,
    hole_depth_m REAL NOT NULL,
    bit_depth_m REAL NOT NULL,
    remark TEXT NOT NULL,
    PRIMARY KEY (report_id, seq)
);
CREATE INDEX IF NOT EXISTS ddr_line_by_date ON ddr_line (report_date);
CREATE TABLE IF NOT EXISTS rental_order (
    order_no TEXT PRIMARY KEY,
    rig_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    description TEXT NOT NULL,
    vendor TEXT NOT NULL,
    payer TEXT NOT NULL,
    on_hire TEXT NOT NULL,
    off_hire TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS equipment (
    rig_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    description TEXT NOT NULL,
    furnished_by TEXT NOT NULL,
    from_date TEXT NOT NULL,
    to_date TEXT NOT NULL
);
"""


def connect(path):
    """Open the database; an absent one is created empty."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    connection.executescript(SCHEMA)
    return connection
