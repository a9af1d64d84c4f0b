"""The database: what has to be remembered from one morning to the next."""

import sqlite3
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS trade (
    trade_id TEXT PRIMARY KEY, fund TEXT, account TEXT, isin TEXT, asset_class TEXT, side INTEGER, qty INTEGER,
    amount REAL, trade_date TEXT, isd TEXT, broker TEXT, block_ref TEXT, status TEXT
);
CREATE INDEX IF NOT EXISTS trade_line ON trade (account, isin);
CREATE INDEX IF NOT EXISTS trade_isd ON trade (isd);
CREATE INDEX IF NOT EXISTS trade_block ON trade (block_ref);
CREATE TABLE IF NOT EXISTS difference (
    account TEXT, isin TEXT, sign INTEGER, days INTEGER, queried INTEGER, PRIMARY KEY (account, isin)
);
CREATE TABLE IF NOT EXISTS event (
    event_id TEXT PRIMARY KEY, isin TEXT, country TEXT, ex_date TEXT, pay_date TEXT, rate REAL, comp TEXT, checked INTEGER
);
CREATE TABLE IF NOT EXISTS entitlement (
    event_id TEXT, fund TEXT, account TEXT, holding INTEGER, PRIMARY KEY (event_id, fund)
);
CREATE TABLE IF NOT EXISTS payment (event_id TEXT, account TEXT, net REAL, value_date TEXT);
CREATE INDEX IF NOT EXISTS payment_event ON payment (event_id);
CREATE TABLE IF NOT EXISTS queried (ref TEXT PRIMARY KEY, day TEXT, party TEXT);

-- the life of an instruction: what has settled, the latest reason, and whether it is over
CREATE TABLE IF NOT EXISTS instruction (trade_id TEXT PRIMARY KEY, settled INTEGER, reason TEXT, done INTEGER);
CREATE INDEX IF NOT EXISTS instruction_open ON instruction (done);
CREATE TABLE IF NOT EXISTS move (move_id TEXT PRIMARY KEY, day TEXT, refs TEXT);
CREATE TABLE IF NOT EXISTS morning (day TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS pool_factor (isin TEXT PRIMARY KEY, factor REAL);
CREATE TABLE IF NOT EXISTS trail (day TEXT, ref TEXT, what TEXT);
"""


def connect(path):
    """The database at ``path``, made if it is missing. One call is one transaction."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = MEMORY")
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(SCHEMA)
    return connection
