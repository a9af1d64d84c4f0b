"""The matcher of a scenario: loaded by the desk alone, once per release and set of topics, and kept."""

from __future__ import annotations

import functools
import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from fdegym.catalog.scenarios import get_scenario, scenarios
from fdegym.lib.errors import FdegymError, ServiceUnavailable
from scenarios.kit.load import Scenario
from stakeholders import engine
from stakeholders.script import Script
from stakeholders.scripts import compiled_script

if TYPE_CHECKING:
    from stakeholders.matcher import Matcher

logger = logging.getLogger(__name__)
_loading = threading.Lock()

#: (topic ``person/topic``, subject or None) of every topic that exists on a task, in the order of the file.
Topics = tuple[tuple[str, str | None], ...]


def find_match(script: Script, message: str, person: str) -> engine.Match:
    """What a message to a person is about. Blocking: a few milliseconds, the first time of a release some seconds."""
    scenario = get_scenario(script.scenario_id)
    return _matcher(scenario, _topics_of(script)).match(message, person)


def warm_matcher(scenario: Scenario) -> None:
    """Load the matcher of every task that people are given, so that the first message does not wait for it."""
    for task_id in scenario.config.offered:
        script = compiled_script(scenario.id, task_id, scenario.release)
        _matcher(scenario, _topics_of(script))


def warm_matchers() -> None:
    """``warm_matcher`` for every scenario on offer; one that cannot be loaded is logged and does not stop the others."""
    for card in scenarios():
        try:
            warm_matcher(get_scenario(card.id))
        except (FdegymError, OSError, ValueError):
            logger.warning("the matcher of %s is not warm yet", card.id, exc_info=True)


def _topics_of(script: Script) -> Topics:
    return tuple((key, topic.subject) for key, _, topic in script.topics())


def _matcher(scenario: Scenario, topics: Topics) -> Matcher:
    with _loading:  # several first messages at once load it once
        return _loaded(scenario.folder / "phrasings.toml", scenario.release, topics)


@functools.lru_cache(maxsize=32)
def _loaded(phrasings: Path, release: str, topics: Topics) -> Matcher:
    """``release`` keeps the matchers of different releases of a scenario apart."""
    if not phrasings.is_file():
        raise ServiceUnavailable("The customer's people cannot understand messages yet: phrasings.toml is missing.")
    from stakeholders.matcher import Matcher  # here: its weights are for the desk, not for whoever imports this module

    return Matcher.load(phrasings, dict(topics), Path(settings.CACHE_DIR) / "matcher")
