"""The sentence in the note field, for a fund accountant."""

_WAITING = {
    "CLAC": "the counterparty has not delivered",
    "NMAT": "the instruction is not matched",
    "LACK": "our own account cannot deliver",
}


def on_trade(one):
    part = "The rest of this trade" if one.settled else "This trade"
    return f"{part} was due on {one.isd} and is open: {_WAITING.get(one.reason, 'the custodian gives no reason')}."


def on_dividend(event_id, difference):
    return f"Dividend {event_id} was paid {difference:.2f} EUR short of what the holding before the ex date is due."
