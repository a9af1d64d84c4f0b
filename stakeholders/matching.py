"""The matcher of a scenario: loaded by the desk alone, once per release and set of topics, and kept."""

from __future__ import annotations

import logging
import threading
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from fdegym.catalog.scenarios import get_scenario, scenarios
from fdegym.lib.errors import FdegymError
from scenarios.kit.load import Scenario
from scenarios.kit.phrasings import load_phrasings
from stakeholders import engine
from stakeholders.script import Script

if TYPE_CHECKING:
    from stakeholders.matcher import Matcher

logger = logging.getLogger(__name__)
MOST_LOADED = 128  #: matchers kept; the encoder, their largest part, is shared

#: (``person/topic``, person, subject) of every topic that exists on a task, in the order of the file.
Topics = tuple[tuple[str, str, str | None], ...]

_loading = threading.Lock()
_loaded: dict[tuple[Path, str, Topics], Matcher] = {}


def find_match(script: Script, message: str, person: str) -> engine.Match:
    """What a message to a person is about. Blocking: milliseconds, the first time of a release up to half a minute."""
    return matcher_of(get_scenario(script.scenario_id), script).match(message, person)


def warm_matcher(scenario: Scenario) -> None:
    """Load the matcher of every task that people are given, so that the first message does not wait for it.

    Needs no world: which topics there are stands in the file, whatever the facts.
    """
    for task_id in scenario.config.offered:
        _matcher(scenario, topics_in_file(scenario, task_id))


def warm_matchers() -> None:
    """``warm_matcher`` for every scenario on offer; one that cannot be loaded does not stop the others."""
    for card in scenarios():
        try:
            warm_matcher(get_scenario(card.id))
        except (FdegymError, OSError, ValueError, KeyError) as problem:
            logger.warning("the matcher of %s is loaded with its first message: %s", card.id, problem)


def matcher_of(scenario: Scenario, script: Script) -> Matcher:
    """The matcher for the topics of a script, loaded once."""
    return _matcher(scenario, tuple((key, person.id, topic.subject) for key, person, topic in script.topics()))


def topics_in_file(scenario: Scenario, task_id: str) -> Topics:
    """The topics that exist on a task, from ``stakeholders.toml`` as it was written, not rendered."""
    people = tomllib.loads((scenario.folder / "stakeholders.toml").read_text(encoding="utf-8"))["stakeholders"]
    return tuple(
        (f"{person['id']}/{topic['id']}", person["id"], topic.get("subject"))
        for person in people
        for topic in person.get("topics", ())
        if task_id in topic.get("tasks", (task_id,))
    )


def _matcher(scenario: Scenario, topics: Topics) -> Matcher:
    key = (scenario.folder, scenario.release, topics)  # the release keeps the matchers of changed scenarios apart
    ready = _loaded.get(key)
    if ready is not None:  # without the lock: while one scenario is loaded, the people of the others go on answering
        return ready
    with _loading:  # several first messages at once load it once
        if key not in _loaded:
            while len(_loaded) >= MOST_LOADED:
                _loaded.pop(next(iter(_loaded)))
            _loaded[key] = _load(scenario, topics)
        return _loaded[key]


def _load(scenario: Scenario, topics: Topics) -> Matcher:
    # here: its weights are for the desk, not for every importer
    from stakeholders.matcher import Matcher, TopicInfo
    from stakeholders.matcher.fitted import SHIPPED

    told = [TopicInfo(id=key, person=person, subject=subject, about="") for key, person, subject in topics]
    phrasings = load_phrasings(scenario.folder / "phrasings.toml")
    return Matcher.load(phrasings, told, Path(settings.CACHE_DIR) / "matcher", scenario.folder / SHIPPED)
