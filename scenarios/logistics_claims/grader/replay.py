"""Half a year at the desk: 156 mornings and a portal question a week, and the file of decisions after each morning."""

from __future__ import annotations

from scenarios.kit.world import DeploymentHost, Outcome
from scenarios.logistics_claims.grader.ledger import Ledger
from scenarios.logistics_claims.grader.rows import MAX_BYTES, Decisions, parse_decisions
from scenarios.logistics_claims.world.production import Run

DATABASE = "var/claims.sqlite"
ASKING_WEEKDAY = 2
MONDAY = 0


def replay(production: Run, host: DeploymentHost) -> Outcome:
    """Run production on the delivered system and settle every claim."""
    return observe(production, host).outcome()


def observe(production: Run, host: DeploymentHost) -> Ledger:
    """Make the calls in order and carry out what is decided. What the delivered system does wrong is never an error."""
    ledger = Ledger(production)
    last = len(production.days) - 1
    for day, today in enumerate(production.days):
        host.progress(day, len(production.days), f"{today.day} {today:%B %Y}: the morning's claims")
        production.file(day)
        drop = host.put_drop("drop", production.drop(day))
        out = f"decisions_{today.isoformat()}.csv"
        argv = ["python", "-m", "claims.decide", "--date", today.isoformat()]
        failed = host.call([*argv, "--drop", drop, "--db", DATABASE, "--out", out]).failure is not None
        ledger.calls["decide"] += 1
        ledger.failures["decide"] += failed
        ledger.decide(day, Decisions() if failed else parse_decisions(host.read(out, MAX_BYTES)), failed=failed)
        if today.weekday() == ASKING_WEEKDAY or (day == last and today.weekday() < ASKING_WEEKDAY):
            _ask(ledger, host)
    host.progress(len(production.days), len(production.days), "claims settled")
    return ledger


def _ask(ledger: Ledger, host: DeploymentHost) -> None:
    """Somebody looks at the portal for the claim that has come in last."""
    latest = next((filed[-1] for filed in reversed(ledger.run.desk.filed_by_day) if filed), None)
    if latest is None:
        return
    failed = host.call(["python", "-m", "claims.status", "--claim", latest.id]).failure is not None
    ledger.calls["status"] += 1
    ledger.failures["status"] += failed
