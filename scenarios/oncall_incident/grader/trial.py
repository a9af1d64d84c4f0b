"""What the customer's people notice in a week that the delivered system paged: sentences, never an owner, rule or score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from scenarios.kit.world import DeploymentHost, Finding
from scenarios.oncall_incident.grader.replay import Observed, observe
from scenarios.oncall_incident.world.gateway import Page, Played
from scenarios.oncall_incident.world.production import Production

NOTICED = 3  #: people remark on what happened as often as this; a single odd page tells nothing
NAMED = 2


def trial(production: Production, host: DeploymentHost) -> list[Finding]:
    """Play the trial's week on the delivered system; the findings, the most lost minutes first."""
    observed = observe(production, host)
    return [finding for _, finding in sorted(_noticed(production, observed), key=lambda pair: -pair[0])]


def _noticed(production: Production, observed: Observed) -> Iterable[tuple[float, Finding]]:
    """(lost minutes behind it, finding). What nobody may miss comes before everything that is counted in minutes."""
    played = observed.played
    if observed.unread:
        yield float("inf"), ("unread", {"tables": len(observed.unread)})
    if any(one.clinical_missed for one in played):
        yield 1e9, ("clinical", {})
    unpaged = [one for one in played if not one.pages and not one.held and not one.clinical_missed]
    if len(unpaged) >= NOTICED:
        yield _lost(unpaged), ("unpaged", {"alerts": len(unpaged)})
    site_of, team_of = production.truth.roster.site_of, production.truth.roster.team_of
    elsewhere = _pages(played, "another team")
    if len(elsewhere) >= NOTICED:
        teams = _most(team_of(page.person, page.at) for _, page in elsewhere)
        yield _lost_by(elsewhere), ("not_mine", {"pages": len(elsewhere), "team": teams})
    off_shift = _pages(played, "off shift")
    if len(off_shift) >= NOTICED:
        (site, _), *_ = Counter(site_of[page.person] for _, page in off_shift).most_common(1)
        people = {page.person for _, page in off_shift if site_of[page.person] == site}
        yield _lost_by(off_shift), ("off_shift", {"people": len(people), "site": site})
    for cause, name in (("rest broken", "rest"), ("needless at night", "needless")):
        hurt = [one for one in played if one.sleep.get(cause)]
        if len(hurt) >= NOTICED:
            yield sum(one.sleep[cause] for one in hurt), (name, {"times": len(hurt)})


def _pages(played: Iterable[Played], who: str) -> list[tuple[Played, Page]]:
    return [(one, page) for one in played for page in one.pages if page.who == who]


def _most(names: Iterable[str]) -> list[str]:
    ranked = sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0]))
    return [name for name, _ in ranked[:NAMED]]


def _lost(played: Iterable[Played]) -> float:
    return sum(one.lost for one in played)


def _lost_by(pages: list[tuple[Played, Page]]) -> float:
    return _lost({id(one): one for one, _ in pages}.values())
