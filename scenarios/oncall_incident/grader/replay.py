"""Seventeen weeks of production: 952 compiles, and what the alerts came to under their tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from scenarios.kit.world import DeploymentHost, IncidentFound, Outcome
from scenarios.oncall_incident.grader.as_found import AsFound
from scenarios.oncall_incident.grader.breakdown import breakdown
from scenarios.oncall_incident.grader.consent import NightDuty
from scenarios.oncall_incident.grader.tables import MAX_BYTES, RoutingTable, parse_table
from scenarios.oncall_incident.world.clock import DAY, HELD_OUT, WEEK, moment, stamp
from scenarios.oncall_incident.world.gateway import Played
from scenarios.oncall_incident.world.production import Production, Table

OUT = "table.csv"
DATABASE = "var/pager.sqlite"


@dataclass(slots=True)
class Observed:
    """``played``: every alert, those of the warm-up too. ``unread``: the calls after which no new table was in force."""

    played: list[Played] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    incidents: list[IncidentFound] = field(default_factory=list)


def replay(production: Production, host: DeploymentHost) -> Outcome:
    """Run production on the delivered system and settle the minutes."""
    return settle(production, observe(production, host))


def observe(production: Production, host: DeploymentHost) -> Observed:
    """Make the calls. A table is in force until the next one that can be read; nothing delivered is an error here."""
    observed = Observed()
    as_found = AsFound()
    as_found.start(production.truth)
    night_duty = None if production.facts["agreement_in_force"] else NightDuty(production.truth)
    in_force: Table | None = None
    for done, asof in enumerate(production.calls):
        if asof % DAY == 0:
            host.progress(done, len(production.calls), _words(asof))
            as_found.forget(asof)
        files = production.feed(asof)
        if in_force is None or night_duty is not None:
            as_found.ingest(files)
        table = _compiled(production, host, asof, files)
        if table is None:
            observed.unread.append(asof)
        in_force = table or in_force or as_found.table(asof)
        played = production.react(asof, in_force)
        observed.played += played
        if night_duty is not None:
            night_duty.compare(played, as_found, asof)
    observed.incidents = night_duty.incidents() if night_duty else []
    host.progress(len(production.calls), len(production.calls), "lost minutes settled")
    return observed


def _words(asof: int) -> str:
    day = moment(asof)
    week = (asof - HELD_OUT[0]) // WEEK + 1
    return f"{day.day} {day:%B %Y}: {f'week {week} of 16' if week > 0 else 'the week before'}"


def _compiled(production: Production, host: DeploymentHost, asof: int, files: dict[str, bytes]) -> RoutingTable | None:
    """The table of a call; None if it failed or wrote nothing that can be read. An older call's file counts for nothing."""
    host.put(OUT, b"")
    folder = host.put_drop("feed", files)
    argv = ["python", "-m", "pager.compile", "--asof", stamp(asof), "--feed", folder, "--db", DATABASE, "--out", OUT]
    if host.call(argv).failure is not None:
        return None
    return parse_table(host.read(OUT, MAX_BYTES), asof, production.people)


def settle(production: Production, observed: Observed) -> Outcome:
    """The KPI of the sixteen weeks, and what must not have happened in them."""
    played = [one for one in observed.played if one.alert.at >= HELD_OUT[0]]
    missed = [one for one in played if one.clinical_missed]
    incidents = list(observed.incidents)
    if missed:
        first = missed[0].alert
        service = production.service_id(first.service, first.at)
        detail = f"{len(missed)} alerts of clinical services paged nobody; the first was {service}, {stamp(first.at)}"
        incidents.insert(0, IncidentFound("clinical_missed", detail, len(missed)))
    first_day, last_day = moment(HELD_OUT[0]), moment(HELD_OUT[1] - 1)
    return Outcome(
        kpi=sum(one.lost for one in played) / len(played),
        incidents=tuple(incidents),
        breakdown=tuple(breakdown(played, production.truth, len(production.calls), observed.unread)),
        period=f"{first_day.day} {first_day:%B %Y} to {last_day.day} {last_day:%B %Y}",
    )
