"""Holdings compare: custodian quantity against the traded position less the trades that are not due yet."""

from recon import load

DAYS_TO_STAY = 3


def remember_trades(connection, drop):
    """Take over the book's trades. AMND and CANC replace what was known under the number."""
    for _, path in load.dated(drop, "book_trades"):
        connection.executemany(
            "INSERT OR REPLACE INTO trade VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", load.book_trades(path)
        )


def differences(connection, drop, day):
    """(account, isin) → difference, for the custodians whose file has come, and the accounts that were compared."""
    book = load.of_day(drop, "book_positions", day)
    if book is None:
        return {}, set()
    expected = {(row.account, row.isin): row.qty for row in load.book_positions(book)}
    not_due = connection.execute(
        "SELECT account, isin, SUM(side * qty) FROM trade WHERE isd >= ? AND status <> 'CANC' GROUP BY account, isin", (day,)
    )
    for account, isin, qty in not_due:
        if (account, isin) in expected:
            expected[account, isin] -= qty
    found, compared = {}, set()
    for stem, read in (("ngc_holdings", load.ngc_holdings), ("bdl_holdings", load.bdl_holdings)):
        path = load.of_day(drop, stem, day)
        for row in read(path) if path is not None else ():
            compared.add(row.account)
            difference = row.qty - expected.get((row.account, row.isin), 0)
            if difference:
                found[row.account, row.isin] = difference
    return found, compared


def aged(connection, found, compared):
    """Count the mornings that each difference has stayed; return those that have just stayed long enough."""
    known = {
        (account, isin): (sign, days, queried)
        for account, isin, sign, days, queried in connection.execute("SELECT * FROM difference")
    }
    rows, ripe = [], []
    for (account, isin), difference in sorted(found.items()):
        sign = 1 if difference > 0 else -1
        before, days, queried = known.get((account, isin), (0, 0, 0))
        days, queried = (days + 1, queried) if before == sign else (1, 0)
        if days >= DAYS_TO_STAY and not queried:
            ripe.append((account, isin, difference))
            queried = 1
        rows.append((account, isin, sign, days, queried))
    gone = [line for line in known if line[0] in compared and line not in found]
    connection.executemany("DELETE FROM difference WHERE account = ? AND isin = ?", gone)
    connection.executemany("INSERT OR REPLACE INTO difference VALUES (?,?,?,?,?)", rows)
    return ripe
