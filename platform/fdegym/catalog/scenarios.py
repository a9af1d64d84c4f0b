"""What the site offers: scenarios of the shipped and of the private directories, and the tasks a person may be given."""

from __future__ import annotations

import functools
import logging
import tomllib
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from fdegym.lib.errors import FdegymError
from scenarios.kit.errors import ScenarioInvalid, ScenarioUnknown, TaskUnknown
from scenarios.kit.format import LEVELS
from scenarios.kit.load import Scenario, find_scenario, scenario_ids

logger = logging.getLogger(__name__)
SHOWN_WITHIN_S = 1.0  #: nearly every page shows the names of all scenarios


@dataclass(frozen=True, slots=True)
class ScenarioCard:
    """A scenario as the catalogue shows it: public words only, no fact and no task's name."""

    id: str
    title: str
    customer: str
    sector: str
    stakes: str
    summary: str
    engineering: str
    held_out: str
    kpi_name: str
    kpi_unit: str
    kpi_direction: str
    people: int
    tasks: int
    levels: tuple[str, ...]
    training: bool  #: to learn on: never ranked


def get_scenario(scenario_id: str, *, within_s: float = 0.0) -> Scenario:
    """The loaded scenario; ``ScenarioUnknown`` or ``ScenarioInvalid``. ``within_s``: see ``find_scenario``."""
    return find_scenario(scenario_id, settings.SCENARIO_DIRS, within_s=within_s)


def for_visitors(problem: FdegymError) -> FdegymError:
    """The problem as it may be shown: what authors are told of a scenario names its files, its tasks and all others."""
    if not isinstance(problem, ScenarioInvalid | ScenarioUnknown | TaskUnknown):
        return problem
    if isinstance(problem, ScenarioInvalid):
        logger.error("%s", problem)
    return ScenarioUnknown("There is no such scenario on this site, or it cannot be used at present.")


def is_offered(scenario: Scenario) -> bool:
    """Whether people may begin it; a draft is its authors' alone."""
    return scenario.config.status != "draft"


def people_count(scenario: Scenario) -> int:
    try:
        return _people_count(scenario.folder, scenario.release)
    except (OSError, ValueError, KeyError):
        return 0


@functools.lru_cache(maxsize=64)
def _people_count(folder: Path, release: str) -> int:
    """Of one release of a scenario: its longest file is not read anew for every page."""
    return len(tomllib.loads((folder / "stakeholders.toml").read_text())["stakeholders"])


def card(scenario: Scenario) -> ScenarioCard:
    config = scenario.config
    levels = tuple(level for level in LEVELS if not (level == "L2" and config.l2_is_l3))
    return ScenarioCard(
        id=scenario.id,
        title=config.title,
        customer=config.customer,
        sector=config.sector,
        stakes=config.stakes,
        summary=config.summary,
        engineering=config.engineering,
        held_out=config.held_out,
        kpi_name=config.kpi.name,
        kpi_unit=config.kpi.unit,
        kpi_direction=config.kpi.direction,
        people=people_count(scenario),
        tasks=len(scenario.config.offered),
        levels=levels,
        training=config.status == "training",
    )


def scenarios() -> list[ScenarioCard]:
    """Every scenario that loads and is offered, those for training first; the others are ranked.

    A broken one is logged for operators and left out, whole. One that was changed may be shown as before for a second.
    """
    cards = []
    for scenario_id in scenario_ids(settings.SCENARIO_DIRS):
        try:
            scenario = get_scenario(scenario_id, within_s=SHOWN_WITHIN_S)
        except ScenarioInvalid as invalid:
            logger.error("%s", invalid)
            continue
        if is_offered(scenario):
            cards.append(card(scenario))
    return sorted(cards, key=lambda one: not one.training)


def ranked_scenarios() -> list[ScenarioCard]:
    """Those of the offered scenarios that have a board."""
    return [one for one in scenarios() if not one.training]
