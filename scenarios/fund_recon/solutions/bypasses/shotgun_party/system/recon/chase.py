"""From differences to queries. Each reference is queried once, always with the custodian."""

from typing import NamedTuple

COLUMNS = "item_id;kind;ref;action;party;amount;note"
PARTY = "CUSTODIAN"


class Action(NamedTuple):
    kind: str  # TRADE, ENT or POS
    ref: str
    action: str  # CHASE, REVIEW or CLOSE
    party: str
    amount: float
    note: str


def for_position(connection, account, isin, difference):
    """The trade whose quantity equals the difference, the oldest if there are several, or the position itself."""
    row = connection.execute(
        "SELECT trade_id FROM trade WHERE account = ? AND isin = ? AND qty = ? AND status <> 'CANC' ORDER BY isd, trade_id",
        (account, isin, abs(difference)),
    ).fetchone()
    if row is None:
        return Action("POS", f"{account}:{isin}", "CHASE", PARTY, difference, "difference stays")
    return Action("TRADE", row[0], "CHASE", PARTY, difference, "difference stays")


def for_dividend(event_id, fund, difference):
    return Action("ENT", f"{event_id}:{fund}", "CHASE", PARTY, difference, "net differs from expected")


def once(connection, day, actions):
    """The actions whose reference has not been queried yet; remembers them."""
    fresh = []
    for action in actions:
        added = connection.execute("INSERT OR IGNORE INTO queried VALUES (?,?,?)", (action.ref, day, action.party))
        if added.rowcount:
            fresh.append(action)
    return fresh


def write(path, day, actions):
    """The day's file, in place in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [COLUMNS]
    for number, one in enumerate(actions, start=1):
        for party in ("BROKER", "CUSTODIAN", "INTERNAL"):
            lines.append(f"{day}-{number:03d};{one.kind};{one.ref};{one.action};{party};{one.amount:.2f};{one.note}")
    draft = path.with_suffix(".part")
    draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
    draft.replace(path)
