"""``manage.py matchreport [ID] [--misses]``: how well a scenario's people understand messages they have never seen."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from fdegym.authoring.checks.matcher import _bounds, figures_of
from fdegym.catalog.scenarios import get_scenario, scenarios
from fdegym.lib.errors import FdegymError
from stakeholders.matcher.figures import Figures, Share
from stakeholders.matcher.report import report


def _as_numbers(figures: Figures) -> dict[str, Any]:
    def number(share: Share) -> dict[str, Any]:
        low, high = share.bounds
        return {"value": round(share.value, 4), "of": share.of, "low": round(low, 4), "high": round(high, 4)}

    def by_person(shares: dict[tuple[str, str], Share]) -> dict[str, Any]:
        return {f"{person} {language}": number(share) for (person, language), share in sorted(shares.items())}

    return {
        "first_try": by_person(figures.given),
        "right_of_answered": by_person(figures.right),
        "right_among_answered": by_person(figures.heard),
        "two_part": number(figures.two_part),
        "gates": number(figures.gates),
        "answered_wrongly": {kind: number(share) for kind, share in sorted(figures.wrongly.items())},
        "near_a_threshold": len(figures.near),
        "confusions": {f"{wanted} -> {got}": count for (wanted, got), count in figures.confusions.most_common()},
    }


def judged(figures: Figures) -> Iterator[str]:
    """Each figure that admission judges, its limit, whether it holds, and the verdict."""
    missed = 0
    yield f"{'what admission judges':<44}{'share':>7}  {'of':>5}  limit"
    for name, share, limit, least in _bounds(figures):
        if not share.of:
            continue
        holds = share.value >= limit if least else share.value <= limit
        missed += not holds
        bound = f"at {'least' if least else 'most'} {limit:.2f}"
        yield f"{name:<44}{share.value:>7.3f}  {share.of:>5}  {bound:<14}{'holds' if holds else 'FAILS'}"
    yield f"{missed} of these would fail the scenario." if missed else "All of this holds."


class Command(BaseCommand):
    help = "Measure the matcher on test phrasings: figures with bounds, per person and language, and what is confused."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenario", metavar="ID", nargs="?", help="all scenarios on offer, if none is named")
        parser.add_argument(
            "--misses", action="store_true", help="list every message that was not treated as it should be"
        )
        parser.add_argument("--json", action="store_true", help="the figures as one JSON object a scenario")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for scenario_id in [options["scenario"]] if options["scenario"] else [card.id for card in scenarios()]:
                figures = figures_of(get_scenario(scenario_id))
                if options["json"]:
                    found = {"scenario": scenario_id, "figures": _as_numbers(figures) if figures else None}
                    self.stdout.write(json.dumps(found, ensure_ascii=False))
                    continue
                self.stdout.write(f"{scenario_id}\n")
                if figures is None:
                    self.stdout.write("Nobody of this scenario is asked by topic.")
                    continue
                self.stdout.write("\n".join([*judged(figures), "", *report(figures, options["misses"])]))
        except (FdegymError, OSError, ValueError) as problem:
            raise CommandError(str(problem)) from problem
