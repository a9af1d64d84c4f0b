"""In which order the assessors get what people have to decide: the claims first where a decision saves most."""

from datetime import date, timedelta

from claims import amounts, case, recourse, rules

COMPLAINT_EUR = 45.0
SATURDAY = 5


def working_days(first, last):
    """Mondays to Fridays after ``first`` up to ``last``."""
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    return sum((start + timedelta(days=n)).weekday() < SATURDAY for n in range(1, (end - start).days + 1))


def priority(connection, one, today):
    """EUR that a decision today saves; half of it while there is time, as long as no letter runs out."""
    values, claim = rules.config(), one.claim
    owed = amounts.payable(connection, one) if one.shipment is not None else None
    if owed is None:
        return claim["claimed_eur"]
    expected = owed / 2 if one.doubtful else owed
    spot = one.customer_class == case.SPOT
    saved = COMPLAINT_EUR if spot else claim["claimed_eur"] - expected
    recovered = values["recourse"]["share"] * expected if recourse.letter_to(one, today) else 0.0
    left = values["complaint_days" if spot else "silence_days"] - working_days(claim["received"], today)
    return saved + recovered if recovered or left <= values["urgent_days"] else saved / 2
