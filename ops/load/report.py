"""What a load has come to, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ops.load.notes import Notes, percentile

SHARES = (0.5, 0.95, 0.99)
HEAD = ("what", "times", "p50", "p95", "p99", "slowest")


def rows_of(notes: Notes) -> list[tuple[str, ...]]:
    """One line for each kind of act; milliseconds, or seconds where it takes long."""
    return [(what, *_figures(values)) for what, values in sorted(notes.times.items())]


def _figures(values: Sequence[float]) -> tuple[str, ...]:
    shown = [*(percentile(values, share) for share in SHARES), max(values)]
    return (f"{len(values):,}", *(f"{each / 1e3:.2f} s" if each >= 10_000 else f"{each:.1f} ms" for each in shown))


def table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...] = HEAD) -> str:
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _listed(said: Mapping[str, Any], unit: str = "") -> str:
    return ", ".join(f"{name} {value:,}{unit}" for name, value in said.items()) or "none"


def of_machine(found: Mapping[str, Any]) -> str:
    return (
        f"{found['cores']} cores ({found['cpu']}), {found['memory_gb']} GB, Linux {found['kernel']}, Python "
        f"{found['python']}, commit {found['commit']}, {found['at']}"
    )


def of_pages(found: Mapping[str, Any]) -> str:
    heading = f"pages over {found['people']:,} people and {found['runs']:,} graded runs, one request at a time"
    return f"{heading}\n\n{table(rows_of(found['notes']))}\n\nerrors: {_listed(found['notes'].errors)}"


def of_load(found: Mapping[str, Any]) -> str:
    """A load of people, for a terminal."""
    plan, cost, working = found["plan"], found["cost"], found["working"]
    during = found["memory_mb"]["during"]
    lines = [
        f"{plan['people']} people ({min(plan['floods'], plan['people'])} of them flood) for {plan['seconds']:.0f} s,"
        f" seed {plan['seed']}, {plan['scenario']}; {found['arrived']} arrived, in {found['arriving_s']} s",
        "",
        table(rows_of(working)),
        "",
        "while they arrived",
        table(rows_of(found["arriving"])),
        "",
        f"counted: {_listed(working.counts)}",
        f"errors: {_listed(found['arriving'].errors + working.errors)}",
        f"cores in use: {_listed(cost['cores'])}; of everything else {cost['cores_of_others']}",
        f"  others mostly: {_listed(cost['others'])}; load average {cost['load_average']:.1f}",
    ]
    if during:
        lines += [
            f"memory: {sum(during.values()):,.0f} MB: {_listed(during, ' MB')}",
            f"  per run, of what was not there before: {per_run_mb(found):.1f} MB",
        ]
    return "\n".join(lines)


def per_run_mb(found: Mapping[str, Any]) -> float:
    before, during = (float(sum(found["memory_mb"][when].values())) for when in ("before", "during"))
    return (during - before) / max(1, int(found["arrived"]))


def as_json(found: Mapping[str, Any]) -> str:
    """Everything but the single times: of those, how many, and the same figures as in the table."""
    return json.dumps(found, default=_notes_as_json, indent=1)


def _notes_as_json(value: Any) -> Any:
    if not isinstance(value, Notes):
        raise TypeError(f"{type(value).__name__} has no JSON")
    return {
        "ms": {
            what: {
                "times": len(values),
                **{f"p{share * 100:.0f}": percentile(values, share) for share in SHARES},
                "slowest": max(values),
            }
            for what, values in sorted(value.times.items())
        },
        "counts": dict(value.counts),
        "errors": dict(value.errors),
    }
