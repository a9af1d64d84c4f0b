"""What a visitor may read of a customer before a run: words that are the same whatever is true there."""

from __future__ import annotations

import logging
import re
import tomllib
from dataclasses import dataclass

from fdegym.pages.markdown import to_html
from scenarios.kit.load import Scenario

logger = logging.getLogger(__name__)

#: Instruction levels, in the order in which they withhold more.
LEVEL_WORDS = {
    "L3": ("The sponsor's request", "What you would get on the first morning. It may point at the wrong problem."),
    "L2": ("A vague problem", "Something is not right; nothing says what."),
    "L1": ("The problem, without the rules", "What is wrong is stated. What must hold is for you to find out."),
    "L0": ("Problem, rules and scoring", "Everything is stated. What is left is the engineering."),
}


@dataclass(frozen=True, slots=True)
class Person:
    id: str
    name: str
    role: str
    persona: str
    is_sponsor: bool


def public_text(text: str) -> str | None:
    """The text if it is one for every task; None for a template, which may depend on what is true at the customer.

    Templates are rendered where worlds are built, within limits; here one could keep every visitor waiting.
    """
    return None if any(sign in text for sign in ("{{", "{%", "{#")) else text


def sponsors_request(scenario: Scenario) -> str | None:
    """The L3 instruction as HTML. None when tasks have different ones: the page then does not tell them apart."""
    briefs = scenario.folder / "briefs"
    if any((briefs / task / "L3.md").exists() for task in scenario.task_ids):
        return None
    try:
        text = public_text((briefs / "L3.md").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        logger.error("the request of %s cannot be read: %s", scenario.id, problem)
        return None
    return None if text is None else to_html(text)


def sources(scenario: Scenario) -> str | None:
    """The public sources that a scenario rests on, as HTML: the section "Sources" of SOURCES.md and nothing of the rest,
    which tells authors where the scenario's figures come from.
    """
    try:
        text = (scenario.folder / "SOURCES.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        logger.error("the sources of %s cannot be read: %s", scenario.id, problem)
        return None
    section = re.search(r"(?ms)^## Sources\n(.*?)(?=^## |\Z)", text)
    return to_html(section[1]) if section else None


def sign_off(scenario: Scenario) -> dict[str, object] | None:
    """Who vouched for the scenario, when, and whether for what it is now; None where nobody did."""
    signed = scenario.config.signoff
    if signed is None:
        return None
    return {"by": signed.by, "on": signed.on, "is_current": scenario.release.startswith(signed.release)}


def directory(scenario: Scenario) -> list[Person]:
    """The people as the customer's directory has them; somebody whose line depends on the task is left to the workspace."""
    try:
        raw = tomllib.loads((scenario.folder / "stakeholders.toml").read_text(encoding="utf-8"))["stakeholders"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError) as problem:
        logger.error("the directory of %s cannot be read: %s", scenario.id, problem)
        return []
    people = []
    for entry in raw:
        name, role, persona = (public_text(str(entry.get(key, ""))) for key in ("name", "role", "persona"))
        if name and role is not None and persona is not None:
            person_id = str(entry.get("id", ""))
            people.append(Person(person_id, name, role, persona.strip(), person_id == scenario.config.sponsor))
    return people
