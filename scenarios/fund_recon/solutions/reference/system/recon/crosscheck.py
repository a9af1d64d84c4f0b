"""Positions as a second opinion: a quantity that the open instructions do not explain, for an analyst to look at."""

from recon import chase, instructions, load

DAYS_UNEXPLAINED = 5


def reviews(connection, drop, day, rules):
    """REVIEW rows for lines that have been unexplained for days, at most as many as are looked at, each line once."""
    book = load.of_day(drop, "book_positions", day)
    if book is None:
        return []
    traded = {(row.account, row.isin): row.qty for row in load.book_positions(book)}
    waiting = {}
    for one in instructions.opened(connection, "1 = 1", ()):
        line = one.account, one.isin
        waiting[line] = waiting.get(line, 0) + one.side * one.rest
    known = {(account, isin): (days, asked) for account, isin, _, days, asked in connection.execute("SELECT * FROM difference")}
    rows, found = [], []
    for holding in _holdings(drop, day):
        line = holding.account, holding.isin
        quantity = holding.qty
        if rules.delorme_bonds_original_face and holding.pf:
            quantity = round(quantity * float(holding.pf.replace(",", ".")))
        difference = quantity - traded.get(line, 0)
        if holding.basis == "S":
            difference += waiting.get(line, 0)
        days, asked = known.get(line, (0, 0))
        if difference:
            if days + 1 >= DAYS_UNEXPLAINED and not asked and len(found) < rules.review_rows:
                note = "quantity that no open instruction explains"
                found.append(chase.Action("POS", f"{line[0]}:{line[1]}", "REVIEW", "CUSTODIAN", difference, note))
                asked = 1
            rows.append((*line, 0, days + 1, asked))
        elif days:
            rows.append((*line, 0, 0, asked))
    connection.executemany("INSERT OR REPLACE INTO difference VALUES (?,?,?,?,?)", rows)
    return found


def _holdings(drop, day):
    for stem, read in (("ngc_holdings", load.ngc_holdings), ("bdl_holdings", load.bdl_holdings)):
        path = load.of_day(drop, stem, day)
        if path is not None:
            yield from read(path)
