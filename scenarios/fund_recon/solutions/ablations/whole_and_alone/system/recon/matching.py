"""Which instructions a movement of a custodian settles.

The trade it names, or without a reference the oldest instruction of its account, security and side with that quantity
and amount.
"""

from recon import instructions, load

TOLERANCE = 0.0002


def take_over(connection, drop, rules):
    """Match the movements that have come, oldest file first; a number that was seen is a repeated line."""
    if rules.delorme_bonds_original_face:
        _remember_factors(connection, drop)
    for stem, read in (("ngc_moves", load.ngc_moves), ("bdl_moves", load.bdl_moves)):
        for day, path in load.dated(drop, stem):
            for move in read(path):
                if move.amount and not _seen(connection, move):
                    matched = _settled(connection, move, rules) if move.status == "SETT" else _pending(connection, move, rules)
                    connection.execute("INSERT INTO move VALUES (?,?,?)", (move.move_id, day, ",".join(matched)))


def _seen(connection, move):
    return connection.execute("SELECT 1 FROM move WHERE move_id = ?", (move.move_id,)).fetchone() is not None


def _remember_factors(connection, drop):
    for _, path in load.dated(drop, "bdl_holdings"):
        factors = {row.isin: float(row.pf.replace(",", ".")) for row in load.bdl_holdings(path) if row.pf}
        connection.executemany("INSERT OR REPLACE INTO pool_factor VALUES (?,?)", factors.items())


def _quantity(connection, move, rules):
    """In units of the book: current face, where Delorme writes original face."""
    if not rules.delorme_bonds_original_face or not move.account.startswith("BD-"):
        return move.qty
    row = connection.execute("SELECT factor FROM pool_factor WHERE isin = ?", (move.isin,)).fetchone()
    return round(move.qty * row[0]) if row else move.qty


def _settled(connection, move, rules):
    qty = _quantity(connection, move, rules)
    named = instructions.opened(connection, "trade_id = ?", (move.our_ref,)) if move.our_ref else []
    if named:
        whole = [one for one in named if one.rest == qty]
        for one in whole:
            instructions.settle(connection, one.trade_id, qty)
        return [one.trade_id for one in whole]
    found = _fitting(connection, move, qty)
    for one in found:
        instructions.settle(connection, one.trade_id, one.rest)
    return [one.trade_id for one in found]


def _pending(connection, move, rules):
    """A pending instruction settles nothing; its reason is kept for whoever is asked."""
    if not move.reason:
        return []
    named = instructions.opened(connection, "trade_id = ?", (move.our_ref,)) if move.our_ref else []
    found = named or _fitting(connection, move, _quantity(connection, move, rules), isd=move.settle_date)
    for one in found:
        instructions.give_reason(connection, one.trade_id, move.reason)
    return [one.trade_id for one in found]


def _fitting(connection, move, qty, isd=None):
    """The instructions that a movement without a trade's reference means. ``isd``: only those of that date."""
    if move.our_ref:
        return []
    when, date = ("isd = ?", isd) if isd else ("isd <= ?", move.settle_date)
    candidates = instructions.opened(
        connection, f"account = ? AND isin = ? AND side = ? AND {when}", (move.account, move.isin, move.side, date)
    )
    alone = next((one for one in candidates if one.rest == qty and _near(one.amount, move.amount)), None)
    return [alone] if alone else []


def _near(ours, theirs):
    return abs(ours - theirs) <= abs(ours) * TOLERANCE + 0.02
