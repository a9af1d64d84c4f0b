"""The matcher's figures on the test phrasings that it has never seen, and what they must reach."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from fdegym.authoring.admission.findings import Check, Finding
from grading.worlds import ensure_world
from scenarios.kit.load import Scenario
from scenarios.kit.phrasings import load_phrasings
from stakeholders.gate_phrasings import Records, measure_gates
from stakeholders.matcher import Matcher, TopicInfo
from stakeholders.matcher.encoder import shared_encoder
from stakeholders.matcher.figures import Figures, Share, measure
from stakeholders.matcher.fitted import SHIPPED, Fitted, content_of
from stakeholders.scripts import compiled_script

RIGHT_OF_ANSWERED = 0.95
FIRST_TRY = {"en": 0.90, "zh": 0.85}
TWO_PART = 0.85
GATES_RIGHT = 0.97
ANSWERED_WRONGLY = 0.05
KINDS_NOT_ANSWERED = ("off_topic", "fishing", "injected", "neighbour")


def matcher_topics(scenario: Scenario) -> list[TopicInfo]:
    """The topics of all tasks, whatever the facts."""
    people = tomllib.loads((scenario.folder / "stakeholders.toml").read_text(encoding="utf-8"))["stakeholders"]
    return [
        TopicInfo(f"{person['id']}/{topic['id']}", person["id"], topic.get("subject"), topic.get("about", ""))
        for person in people
        for topic in person.get("topics", ())
    ]


def figures_of(scenario: Scenario) -> Figures | None:
    """The figures on the scenario's test phrasings, gates with the original's data; None where nobody has topics."""
    topics = matcher_topics(scenario)
    if not topics:
        return None
    phrasings = load_phrasings(scenario.folder / "phrasings.toml")
    matcher = Matcher.load(phrasings, topics, Path(settings.CACHE_DIR) / "matcher", scenario.folder / SHIPPED)
    figures = measure(matcher, phrasings, topics)
    task = ensure_world(scenario, "original")
    script = compiled_script(scenario.id, "original", scenario.release)
    measure_gates(figures, phrasings, Records(scenario.config.records, task.meta.records), script)
    return figures


def ship_matcher(scenario: Scenario, folder: Path) -> None:
    """Write to ``folder`` what is learnt from the scenario's phrasings, so that no site that offers it has to learn."""
    file = scenario.folder / "phrasings.toml"
    if not matcher_topics(scenario) or not file.is_file():
        return
    phrasings, encoder = load_phrasings(file), shared_encoder()
    learnt = Fitted.cached(phrasings, encoder, Path(settings.CACHE_DIR) / "matcher", scenario.folder / SHIPPED)
    learnt.write(folder / SHIPPED, content_of(phrasings, encoder))


def _bounds(figures: Figures) -> Iterator[tuple[str, Share, float, bool]]:
    """(name, share, bound, whether the bound is a least) of every figure of which something was counted."""
    right = Share()
    for (who, language), share in figures.right.items():
        if who == "all":
            right.hits, right.of = right.hits + share.hits, right.of + share.of
            yield f"right of answered ({language})", share, RIGHT_OF_ANSWERED, True
    yield "right of answered", right, RIGHT_OF_ANSWERED, True
    for language, least in FIRST_TRY.items():
        yield f"answered rightly at first try ({language})", figures.given.get(("all", language), Share()), least, True
    yield "two questions, both answered", figures.two_part, TWO_PART, True
    yield "gates right", figures.gates, GATES_RIGHT, True
    for kind in KINDS_NOT_ANSWERED:
        yield f"answered though {kind.replace('_', ' ')}", figures.wrongly.get(kind, Share()), ANSWERED_WRONGLY, False


def _find(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    measured = figures_of(scenario)
    if measured is None:
        yield Finding("matcher", "", True, {}, "Nobody of this scenario is asked by topic.")
        return
    figures: dict[str, Any] = {}
    missed: list[str] = []
    for name, share, bound, least in _bounds(measured):
        if not share.of:
            continue
        figures[name] = {"value": round(share.value, 4), "of": share.of, "least" if least else "most": bound}
        if share.value < bound if least else share.value > bound:
            missed.append(f"{name}: {share.value:.3f} of {share.of}, {'at least' if least else 'at most'} {bound}")
    words = f"{'; '.join(missed)}. See `manage.py matchreport {scenario.id} --misses`." if missed else ""
    yield Finding("matcher", "", not missed, figures, words)


MATCHER_FIGURES = Check(
    name="matcher",
    about="people understand what they are asked, in English and Chinese",
    run=_find,
    each_task=False,
    spoken=True,
    seconds=40.0,
)
