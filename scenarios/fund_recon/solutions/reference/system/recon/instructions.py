"""The instructions that the book expects to settle, and which of them are due for a query."""

from typing import NamedTuple

from recon import load


class Open(NamedTuple):
    """An instruction that is not over; ``rest`` is what has not settled."""

    trade_id: str
    account: str
    isin: str
    side: int
    rest: int
    amount: float  # of the rest
    isd: str
    reason: str
    settled: int
    block_ref: str


_COLUMNS = (
    "trade_id, account, isin, side, qty - settled, amount * (qty - settled) / qty, isd, reason, settled, block_ref"
)
_OPEN = f"SELECT {_COLUMNS} FROM trade JOIN instruction USING (trade_id) WHERE done = 0 AND qty > 0"


def take_over(connection, drop):
    """New trades become instructions; AMND goes on with the new values, CANC ends one."""
    for _, path in load.dated(drop, "book_trades"):
        for trade in load.book_trades(path):
            connection.execute("INSERT OR REPLACE INTO trade VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", trade)
            connection.execute("INSERT OR IGNORE INTO instruction VALUES (?, 0, '', 0)", (trade.trade_id,))
            connection.execute(
                "UPDATE instruction SET done = ? = 'CANC' OR settled >= ? WHERE trade_id = ?",
                (trade.status, trade.qty, trade.trade_id),
            )


def opened(connection, where, values, order="isd, trade_id"):
    """Open instructions that fit, those with the older intended date first."""
    return [Open(*row) for row in connection.execute(f"{_OPEN} AND {where} ORDER BY {order}", values)]


def settle(connection, trade_id, qty):
    connection.execute("UPDATE instruction SET settled = settled + ? WHERE trade_id = ?", (qty, trade_id))
    connection.execute(
        "UPDATE instruction SET done = 1 WHERE trade_id = ? AND settled = (SELECT qty FROM trade WHERE trade_id = ?)",
        (trade_id, trade_id),
    )


def give_reason(connection, trade_id, reason):
    connection.execute("UPDATE instruction SET reason = ? WHERE trade_id = ?", (reason, trade_id))


# ---- business days ----


def remember_mornings(connection, drop, day):
    """Business days are the mornings on which there was a drop; a morning on which we failed shows in the files' dates."""
    days = {day, *(found for found, _ in load.dated(drop, "book_positions"))}
    connection.executemany("INSERT OR IGNORE INTO morning VALUES (?)", [(one,) for one in sorted(days)])


def days_since(connection, date, day):
    """Business days after ``date`` until ``day``, this one included."""
    return connection.execute("SELECT COUNT(*) FROM morning WHERE day > ? AND day <= ?", (date, day)).fetchone()[0]


def since(connection, day, days):
    """The latest date that is at least that many business days ago."""
    row = connection.execute(
        "SELECT day FROM morning WHERE day <= ? ORDER BY day DESC LIMIT 1 OFFSET ?", (day, days)
    ).fetchone()
    return row[0] if row else ""


# ---- what is due ----


def due(connection, drop, day, rules):
    """Instructions to be queried this morning. Waits for a custodian whose movements are late."""
    heard = {
        letters
        for letters, stem in (("NG", "ngc_moves"), ("BD", "bdl_moves"))
        if load.of_day(drop, stem, day) is not None
    }
    found = []
    for one in opened(
        connection,
        "isd <= ? AND trade_id NOT IN (SELECT ref FROM queried)",
        (since(connection, day, rules.from_day),),
    ):
        days = days_since(connection, one.isd, day)
        first = max(rules.from_day, rules.rest_within + 1) if one.settled else rules.from_day
        if first <= days <= rules.to_day and one.account[:2] in heard:
            found.append(one)
    return found
