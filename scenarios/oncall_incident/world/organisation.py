"""Who works at Lumenfold and what they run: teams, people, services."""

from __future__ import annotations

from dataclasses import dataclass, replace

from numpy.random import Generator

from scenarios.kit.tables import csv_bytes
from scenarios.oncall_incident.world.clock import SITES, from_stamp

TEAM_SITE = {
    **dict.fromkeys(("Harbor", "Ledger", "Juniper", "Quarry", "Lantern"), "Lisbon"),
    **dict.fromkeys(("Cedar", "Beacon", "Mortar", "Tamarack"), "Toronto"),
    **dict.fromkeys(("Orchard", "Kestrel", "Pestle"), "Singapore"),
}
TEAMS = tuple(TEAM_SITE)
PER_TEAM = 6
SWAP_DESK = "Swap desk"
#: the swap desk's clerks, by the site whose time is on their screens
CLERKS = {"Singapore": "weiting.lim", "Lisbon": "marta.pinho", "Toronto": "dale.mercer"}

#: two people of one site change places on this day: a Monday morning in Lisbon, with the new week's rota
TRANSFER_AT = from_stamp("2026-11-16T08:00Z")
TRANSFERRED = (("Harbor", 4), ("Quarry", 4))

_FIRST = {
    "Lisbon": "ines rui tiago carla nuno sofia paulo rita hugo marta bruno vera diogo alice jorge elsa pedro lia "
    "miguel joana vasco clara luis sara filipe ana goncalo teresa andre beatriz",
    "Toronto": "owen claire devon maya liam priya noah hannah evan chloe marcus leah ryan zoe dylan nadia ethan erin "
    "kyle simone adam tara cole fiona",
    "Singapore": "wei hui jia kumar mei arun siew ravi lin farid xin anand ying daniel nurul jun suresh kai",
}
_LAST = {
    "Lisbon": "ferreira matos lopes nunes pires correia teles moura viegas sampaio",
    "Toronto": "macleod tremblay singh wong bouchard oduya kerr lavoie",
    "Singapore": "tan goh nair lee rahman koh",
}
#: every ninth engineer is posted to another site for the time being, and the swap tool shows them that site's time
_POSTED_EVERY = 9

_DOMAINS = (
    *("pharmacy", "ward", "retail", "dispensing", "stock", "supplier", "invoice", "label"),
    *("order", "delivery", "patient", "formulary", "contract", "tablet", "cabinet", "returns"),
)
_FUNCTIONS = (
    *("intake", "sync", "router", "cache", "reports"),
    *("gateway", "scheduler", "audit", "search", "export"),
)
SERVICES = len(_DOMAINS) * len(_FUNCTIONS)
BLOCKS = 10  #: of popularity; a block holds 16 services
CLINICAL = 29
#: two services got another id: (rank of popularity, new id, when)
RENAMED = ((22, "stock-mirror", from_stamp("2026-07-21T10:14Z")), (71, "ward-rounds", from_stamp("2026-08-18T13:40Z")))


@dataclass(frozen=True, slots=True)
class Person:
    id: str
    team: str
    site: str
    profile_site: str  #: whose time the swap tool shows them


@dataclass(frozen=True, slots=True)
class Service:
    """``rank``: of popularity, from 0. ``owner``: the catalogue's team as of January."""

    rank: int
    id: str
    owner: str
    clinical: bool
    old_id: str = ""
    renamed_at: int = 0

    def id_at(self, at: int) -> str:
        return self.old_id if self.old_id and at < self.renamed_at else self.id


def engineers() -> dict[str, list[Person]]:
    """Team → its six people, as of the first day; the same in every task."""
    found: dict[str, list[Person]] = {}
    sites = list(SITES)
    number = 0
    for site in sites:
        firsts, lasts = _FIRST[site].split(), _LAST[site].split()
        of_site = [f"{first}.{lasts[index % len(lasts)]}" for index, first in enumerate(firsts)]
        for index, team in enumerate(team for team, where in TEAM_SITE.items() if where == site):
            found[team] = []
            for person_id in of_site[index * PER_TEAM : (index + 1) * PER_TEAM]:
                number += 1
                posted = number % _POSTED_EVERY == 0
                other = sites[(sites.index(site) + 1 + number // _POSTED_EVERY % 2) % len(sites)]
                found[team].append(Person(person_id, team, site, other if posted else site))
    return found


def after_transfer(teams: dict[str, list[Person]]) -> dict[str, list[Person]]:
    """The teams once two people of one site have changed places."""
    (first, i), (second, k) = TRANSFERRED
    changed = {team: list(people) for team, people in teams.items()}
    one, other = changed[first][i], changed[second][k]
    changed[first][i], changed[second][k] = replace(other, team=first), replace(one, team=second)
    return changed


def clerks() -> list[Person]:
    return [Person(person_id, SWAP_DESK, site, site) for site, person_id in CLERKS.items()]


def people_csv(teams: dict[str, list[Person]]) -> bytes:
    people = [person for team in teams.values() for person in team]
    rows = [(one.id, one.team, one.site, SITES[one.profile_site], "yes") for one in sorted(people, key=lambda p: p.id)]
    desk = [(one.id, one.team, one.site, SITES[one.profile_site], "no") for one in clerks()]
    return csv_bytes(("person_id", "team", "site", "profile_tz", "phone_ok"), [*rows, *desk])


def services(rng: Generator) -> list[Service]:
    """160 services by popularity: catalogue owners dealt evenly, three clinical ones in each block but one."""
    names = [f"{domain}-{function}" for domain in _DOMAINS for function in _FUNCTIONS]
    names = [names[index] for index in rng.permutation(SERVICES)]
    owners = [TEAMS[index % len(TEAMS)] for index in rng.permutation(SERVICES)]
    size = SERVICES // BLOCKS
    clinical = {block * size + int(rank) for block in range(BLOCKS) for rank in rng.permutation(size)[:3]}
    clinical.discard(min(clinical))
    found = [Service(rank, names[rank], owners[rank], rank in clinical) for rank in range(SERVICES)]
    for rank, new_id, when in RENAMED:
        found[rank] = replace(found[rank], id=new_id, old_id=found[rank].id, renamed_at=when)
    return found
