"""What the debrief tells: a reading of one grade and of the run's log. It adds no number of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fdegym.gateway.use import use_of_events, use_of_record
from fdegym.pages import charts
from fdegym.pages.conversation import Names, contacts_of, customer_clock, facts_of, script_played, totals_of
from fdegym.pages.failures import failures_of
from fdegym.pages.templatetags import figures
from fdegym.runs.log import events
from fdegym.runs.models import Run, RunEvent, RunState
from grading.models import Grade
from grading.score import RESOLVED_AT
from scenarios.kit.format import Kpi
from scenarios.kit.load import ORIGINAL, Scenario

STATE_WORDS = {
    RunState.OPEN: "Workspace open",
    RunState.SUBMITTED: "Handed in",
    RunState.GRADED: "Graded",
    RunState.VOID: "Grading failed through our fault",
    RunState.FAILED: "Could not be prepared",
    RunState.PREPARING: "Being prepared again",
}
#: What the model gateway had no answer to, where a person should know.
REFUSALS = {
    "gateway_disabled": "Asked for a language model; none is connected here",
    "allowance_spent": "The allowance for the language model was spent",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the waterfall."""

    name: str
    title: str
    explained: str
    figure: str
    kind: str
    x: float
    width: float
    cut: bool


@dataclass(frozen=True, slots=True)
class Entry:
    at: datetime
    words: str
    customer_clock: str = ""


def verdict(grade: Grade, kpi: Kpi) -> str:
    """One sentence that a person remembers."""
    moved = (
        f"{kpi.name[:1].upper()}{kpi.name[1:]} went from {figures.kpi(grade.kpi_baseline, kpi)} as found "
        f"to {figures.kpi(grade.kpi, kpi)}; the reference reaches {figures.kpi(grade.kpi_reference, kpi)}."
    )
    if grade.incidents:
        return f"{moved} There was an incident, so nothing that was gained counts."
    return moved


def steps_of(grade: Grade) -> tuple[Step, ...]:
    """U → incidents → contacts → S, drawn and explained."""
    drawn = charts.waterfall(grade.uplift, grade.uplift_adjusted, grade.contact_cost, grade.score, RESOLVED_AT)
    lost = grade.uplift_adjusted - grade.uplift
    words = {
        "work": ("U, the system", "share of the way from as found to the reference"),
        "incidents": ("Incidents", "with one, no gain counts" if grade.incidents else "none"),
        "contacts": ("C, contacts", "answered messages, trials, days waited"),
        "score": ("S, the score", "resolved" if grade.resolved else f"resolved from {figures.signed(RESOLVED_AT)}"),
    }
    shown = {
        "work": figures.signed(grade.uplift),
        "incidents": figures.signed(lost),
        "contacts": figures.taken(grade.contact_cost),
        "score": figures.signed(grade.score),
    }
    return tuple(
        Step(bar.name, *words[bar.name], shown[bar.name], bar.kind, bar.x, bar.width, bar.cut) for bar in drawn.bars
    )


# ---- the breakdown ---------------------------------------------------------------------------------------------------


#: A text that a grader wrote as a figure with its unit: ``229.05 h``, ``-12 %``.
_MEASURED = re.compile(r"[-\N{MINUS SIGN}]?\d[\d,]*(?:\.\d+)?(?:\s?[^\W\d]{1,4}|\s?%)?")

#: A count of thousands in a text that is one figure, or begins with it, or is "so many of so many"; never part of a date.
_COUNT = re.compile(r"(?:^|(?<=^-)|(?<= of ))\d{4,}(?=(?:\.\d+)?(?:$|, | of |\s?%$|\s?[^\W\d]{1,4}$))")


def cell(value: Any) -> dict[str, Any]:
    """A value of a breakdown as text; figures get the same minus and grouping as everywhere."""
    if isinstance(value, bool):
        return {"text": "yes" if value else "no", "numeric": False}
    if isinstance(value, int):
        return {"text": figures.plain(value), "numeric": True}
    if isinstance(value, float):
        return {
            "text": figures.plain(value, 0 if value == int(value) else 2) if value == value else "–",
            "numeric": True,
        }
    text = "–" if value is None else str(value)
    numeric = _MEASURED.fullmatch(text) is not None
    text = _COUNT.sub(lambda found: f"{int(found[0]):,}", text)
    return {"text": text.replace("-", figures.MINUS) if numeric else text, "numeric": numeric}


def sections_of(breakdown: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The breakdown's tables and facts, ready to be drawn (its series are charts)."""
    sections: list[dict[str, Any]] = []
    for section in breakdown:
        common = {"title": section.get("title", ""), "note": section.get("note", ""), "kind": section.get("kind")}
        if section.get("kind") == "facts":
            # a label that only says the title again ("Nights": nights) is their number
            title = str(common["title"]).strip().lower()
            items = [
                ("in all" if str(label).strip().lower() == title else label, cell(value)["text"])
                for label, value in section.get("items", ())
            ]
            sections.append(common | {"pairs": items})
        elif section.get("kind") == "table":
            rows = [[cell(value) for value in row] for row in section.get("rows", ())]
            columns = [
                {"name": name, "numeric": bool(rows) and all(row[at]["numeric"] for row in rows if at < len(row))}
                for at, name in enumerate(section.get("columns", ()))
            ]
            sections.append(common | {"columns": columns, "rows": rows})
    return sections


def charts_of(breakdown: Sequence[Mapping[str, Any]]) -> list[charts.Series]:
    drawn = (charts.series(section) for section in breakdown if section.get("kind") == "series")
    return [chart for chart in drawn if chart is not None]


# ---- the timeline ----------------------------------------------------------------------------------------------------


def timeline_of(log: Iterable[RunEvent], names: Names) -> list[Entry]:
    entries = []
    for event in log:
        words = _timeline_words(event, names)
        if words:
            entries.append(
                Entry(event.at, words, customer_clock(event.payload.get("before") or event.payload.get("at")))
            )
    return entries


def _timeline_words(event: RunEvent, names: Names) -> str:
    payload = event.payload
    match event.kind:
        case "run.begun":
            return f"Begun at {payload.get('level', '')}"
        case "run.state":
            return STATE_WORDS.get(payload.get("to", ""), "")
        case "run.frozen":
            return f"System frozen: {payload.get('files', 0)} files{_left_out(payload.get('left_out'))}"
        case "contact.message":
            return f"Wrote to {names.person(payload.get('person'))}"
        case "contact.wait":
            return f"Waited until {customer_clock(payload.get('after'))}"
        case "contact.inbox":
            return f"{names.person(payload.get('sender'))} wrote unasked"
        case "contact.inbox_read":
            return f"Read what {names.person(payload.get('sender'))} wrote"
        case "contact.deadline":
            return "The customer’s deadline passed"
        case "trial.requested":
            return "Asked for a trial run"
        case "trial.reported":
            return "The trial run was reported"
        case "gateway.refused":
            return REFUSALS.get(payload.get("code", ""), "")
    return ""


def _left_out(found: Mapping[str, Any] | None) -> str:
    """What the submission could not hold, in words; nothing of a run from before it was noted."""
    if not found or not found["count"]:
        return ""
    named = ", ".join(f"{row['path']} ({row['words']})" for row in found["first"])
    return f"; {found['count']} left out: {named}{' …' if found['count'] > len(found['first']) else ''}"


# ---- the page --------------------------------------------------------------------------------------------------------


def _environment(grade: Grade) -> list[tuple[str, str]]:
    rows = [
        ("Scenario release", grade.scenario_release),
        ("Grader", grade.grader_version),
        ("Worlds", f"salted, {grade.salt_fingerprint}" if grade.salt_fingerprint else "as published"),
        ("System, SHA-256", grade.submission.sha256),
    ]
    rows += [
        (str(name).replace("_", " ").capitalize(), str(value)) for name, value in sorted(grade.environment.items())
    ]
    replay = grade.replay
    if replay.get("calls"):
        spent = f"{replay['calls']} calls, {replay.get('cpu_s', 0):.0f} s CPU, {replay.get('wall_s', 0):.0f} s in all"
        rows.append(("Replay", spent))
    return rows


def debrief_context(
    run: Run, grade: Grade, scenario: Scenario, people: Mapping[str, tuple[str, str]]
) -> dict[str, Any]:
    """Everything the template draws. ``run`` is graded; what was hidden until now may be named."""
    log = events(run.id, kinds=["run.", "contact.", "trial.", "gateway."])
    titles = {key: text.title for key, text in scenario.facts.texts.items() if "{" not in text.title}
    titles |= {row["id"]: row["title"] for row in grade.key_facts}
    names = Names(people, titles)
    kpi = scenario.config.kpi
    variant = scenario.facts.variants.get(run.task_id) if run.task_id != ORIGINAL else None
    drawn = charts.waterfall(grade.uplift, grade.uplift_adjusted, grade.contact_cost, grade.score, RESOLVED_AT)
    totals = totals_of(grade, names)
    bars = charts.comparison({"baseline": grade.kpi_baseline, "delivered": grade.kpi, "reference": grade.kpi_reference})
    return {
        "grade": grade,
        "verdict": verdict(grade, kpi),
        "steps": steps_of(grade),
        "zero": drawn.zero,
        "threshold": drawn.threshold,
        "resolved_at": RESOLVED_AT,
        "kpi": kpi,
        "kpi_bars": bars,
        "period": grade.period,
        "charts": charts_of(grade.breakdown),
        "sections": sections_of(grade.breakdown),
        "incidents": grade.incidents,
        "permitted": grade.permitted,
        # limits may have been others in the release that it was graded by
        "failures": failures_of(grade, scenario.config if grade.scenario_release == scenario.release else None),
        "differs": variant.differs if variant else "",
        "facts": facts_of(grade, log, names, script_played(run, scenario)),
        "people": totals,
        "messages_total": sum(row.messages for row in totals),
        "contacts": contacts_of(log, names),
        "model_uses": [
            ("While you worked", use_of_events((event.kind, event.payload) for event in log)),
            ("While it was graded", use_of_record(grade.replay.get("model_use"))),
        ],
        "timeline": timeline_of(log, names),
        "environment": _environment(grade),
        "time_used": run.time_used,
    }
