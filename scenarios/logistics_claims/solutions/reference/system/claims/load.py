"""Reading the morning's drop and keeping it in the database.

One file holds what one morning brought; rows that are known already (the same claim, shipment, scan or receipt) stay as
they are. Customers, hauliers and SDR rates come complete on Mondays and replace what was there.

A shipment id is kept as typed and as it is meant: claimants mistype the check digit.
"""

import csv
import sqlite3
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS claim (
    claim_id TEXT PRIMARY KEY,
    received TEXT NOT NULL,
    claimant_id TEXT NOT NULL,
    role TEXT NOT NULL,
    shipment_id TEXT NOT NULL,
    product TEXT NOT NULL,
    type TEXT NOT NULL,
    claimed_eur REAL NOT NULL,
    notice_date TEXT NOT NULL,
    pieces_affected INTEGER NOT NULL,
    evidence TEXT NOT NULL,
    text TEXT NOT NULL,
    meant_id TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open'
);
CREATE INDEX IF NOT EXISTS claim_by_shipment ON claim (meant_id);
CREATE INDEX IF NOT EXISTS claim_open ON claim (state) WHERE state = 'open';
CREATE TABLE IF NOT EXISTS shipment (
    shipment_id TEXT PRIMARY KEY,
    customer_id TEXT NOT NULL,
    depot TEXT NOT NULL,
    product TEXT NOT NULL,
    pieces INTEGER NOT NULL,
    weight_kg REAL,
    carriage_eur REAL NOT NULL,
    pickup_flag TEXT NOT NULL,
    due_on TEXT NOT NULL,
    delivered_on TEXT NOT NULL,
    origin TEXT NOT NULL,
    destination TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS scan (
    shipment_id TEXT NOT NULL,
    ts TEXT NOT NULL,
    place TEXT NOT NULL,
    event TEXT NOT NULL,
    carrier TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (shipment_id, ts, place, event)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pod (
    shipment_id TEXT PRIMARY KEY,
    code TEXT NOT NULL,
    signed_by TEXT NOT NULL,
    remark TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS customer (customer_id TEXT PRIMARY KEY, class TEXT, country TEXT, terms_ref TEXT);
CREATE TABLE IF NOT EXISTS haulier (haulier_id TEXT PRIMARY KEY, name TEXT, country TEXT, terms_ref TEXT);
CREATE TABLE IF NOT EXISTS sdr (month TEXT PRIMARY KEY, eur_per_sdr REAL);
CREATE TABLE IF NOT EXISTS audit (
    claim_id TEXT PRIMARY KEY,
    decided_on TEXT NOT NULL,
    decision TEXT NOT NULL,
    rule TEXT NOT NULL,
    amount REAL NOT NULL,
    inputs TEXT NOT NULL
);
"""

CLAIM_COLUMNS = (
    "claim_id", "received", "claimant_id", "role", "shipment_id", "product", "type", "claimed_eur", "notice_date",
    "pieces_affected", "evidence", "text",
)
SHIPMENT_COLUMNS = (
    "shipment_id", "customer_id", "depot", "product", "pieces", "weight_kg", "carriage_eur", "pickup_flag", "due_on",
    "delivered_on", "origin", "destination",
)
SCAN_COLUMNS = ("shipment_id", "ts", "place", "event", "carrier", "note")
POD_COLUMNS = ("shipment_id", "code", "signed_by", "remark")
WEEKLY = {
    "customers.csv": ("customer", ("customer_id", "class", "country", "terms_ref")),
    "hauliers.csv": ("haulier", ("haulier_id", "name", "country", "terms_ref")),
    "sdr.csv": ("sdr", ("month", "eur_per_sdr")),
}
CHECK_WEIGHTS = (3, 1, 3, 1, 3, 1)


def connect(path):
    """Open the database; an absent one is created empty."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(SCHEMA)
    return connection


def meant(shipment_id):
    """The shipment id with its right check digit; what is no shipment id stays as it is."""
    text = shipment_id.strip().upper()
    digits = text.removeprefix("QF-")
    if len(digits) != 7 or not digits.isdecimal() or not digits.isascii():
        return text
    total = sum(weight * int(digit) for weight, digit in zip(CHECK_WEIGHTS, digits))
    return f"QF-{digits[:6]}{-total % 10}"


def read_table(path, columns):
    """Rows of a comma-separated file as tuples in the order of ``columns``; an absent file has none."""
    if not path.exists():
        return
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, [])
        missing = [column for column in columns if column not in header]
        if missing:
            raise ValueError(f"{path.name} lacks the columns {', '.join(missing)}")
        places = [header.index(column) for column in columns]
        for row in reader:
            if row:
                yield tuple(row[place] for place in places)


def read_claims(path):
    """Claims with the shipment that is meant."""
    at = CLAIM_COLUMNS.index("shipment_id")
    for row in read_table(path, CLAIM_COLUMNS):
        yield (*row, meant(row[at]))


def read_shipments(path):
    """Shipments; a missing weight is None."""
    at = SHIPMENT_COLUMNS.index("weight_kg")
    for row in read_table(path, SHIPMENT_COLUMNS):
        yield (*row[:at], float(row[at]) if row[at].strip() else None, *row[at + 1 :])


def read_scans(path):
    """Scans: fields separated by ``|``, a header line, times as the depot's own clock shows them."""
    if not path.exists():
        return
    with open(path, encoding="utf-8") as file:
        next(file, None)
        for line in file:
            fields = line.rstrip("\n").split("|")
            if len(fields) == len(SCAN_COLUMNS):
                yield tuple(fields)


def load(drop, connection):
    """Keep everything in ``drop``; returns the ids of the claims that are new, in the order of the file."""
    drop = Path(drop)
    claims = list(read_claims(drop / "claims_new.csv"))
    _keep(connection, "claim", (*CLAIM_COLUMNS, "meant_id"), claims)
    _keep(connection, "shipment", SHIPMENT_COLUMNS, read_shipments(drop / "shipments.csv"))
    _keep(connection, "scan", SCAN_COLUMNS, read_scans(drop / "scans.txt"))
    _keep(connection, "pod", POD_COLUMNS, read_table(drop / "pod.csv", POD_COLUMNS))
    for name, (table, columns) in WEEKLY.items():
        if (drop / name).exists():
            connection.execute(f"DELETE FROM {table}")
            _keep(connection, table, columns, read_table(drop / name, columns))
    for claim_id, decision in read_table(drop / "answers.csv", ("claim_id", "decision")):
        state = "refused" if decision == "REFUSE" else "paid"
        connection.execute("UPDATE claim SET state = ? WHERE claim_id = ?", (state, claim_id))
    return [row[0] for row in claims]


def _keep(connection, table, columns, rows):
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    connection.executemany(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", rows)
