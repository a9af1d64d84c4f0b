"""What admission found of every scenario, for everybody: ``evidence.md`` and ``evidence.csv``, as the scenario pages say it.

python3 ops/evidence.py [DIRECTORY]

Counts over all tasks of a scenario; no task and no solution is named. A scenario that was not admitted in its present form
is named as such. The tables go to ``DIRECTORY``, by default ``docs``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "platform")]

from fdegym.lib.spreadsheets import table  # noqa: E402
from grading.anchors import AnchorsFile, read_anchors  # noqa: E402

COLUMNS = ("scenario", "release", "version", "admitted_on", "group", "what", "value", "of", "least", "most")
HEAD = """# Evidence

What admission found of each scenario before it was offered, in aggregate, from the `anchors.json` that it wrote; the same
stands on the scenario's page. [Admission](admission.md) says how each line is measured. Written by `ops/evidence.py`; the
same lines as data are in [evidence.csv](evidence.csv).
"""


def admitted(root: Path = ROOT) -> list[AnchorsFile]:
    """The anchors of every shipped scenario that has evidence, in order of their ids."""
    files = sorted((root / "scenarios").glob("*/anchors.json"))
    return [found for path in files if (found := read_anchors(path.read_text(encoding="utf-8"))).evidence]


def rows(anchors: AnchorsFile) -> Iterator[tuple[str, str, float, int | None, float | None, float | None]]:
    """(group, what, value, of, least, most) of everything that was found."""
    evidence = anchors.evidence
    if evidence is None:
        return
    yield "tasks", "tasks", evidence.tasks, None, None, None
    for group, held in (("anchors", evidence.anchors), ("checks", evidence.checks)):
        for one in held:
            yield group, one.what, one.holds, one.of, None, None
    for kind, count in evidence.strategies.items():
        yield "strategies", kind, count, None, None, None
    for bound in evidence.matcher:
        yield "matcher", bound.what, bound.value, bound.of, bound.least, bound.most


def as_csv(found: list[AnchorsFile]) -> str:
    lines = (
        [
            one.scenario,
            one.release[:12],
            one.package,
            one.evidence.admitted_on.isoformat() if one.evidence else "",
            *row,
        ]
        for one in found
        for row in rows(one)
    )
    return table(COLUMNS, lines, line_end="\n")


def as_markdown(found: list[AnchorsFile]) -> str:
    return "\n".join([HEAD, *(line for one in found for line in _section(one))])


def _section(anchors: AnchorsFile) -> Iterator[str]:
    evidence = anchors.evidence
    if evidence is None:
        return
    yield f"## {anchors.scenario}"
    yield ""
    yield (
        f"Release `{anchors.release[:12]}`, {evidence.tasks} tasks, admitted on {evidence.admitted_on.isoformat()} with "
        f"version {anchors.package}."
    )
    yield ""
    yield "| what was demanded | holds on |"
    yield "| --- | ---: |"
    for one in (*evidence.anchors, *evidence.checks):
        yield f"| {one.what} | {one.holds} of {one.of} |"
    yield ""
    yield "Played of its own: " + ", ".join(f"{count} {kind}" for kind, count in evidence.strategies.items()) + "."
    yield ""
    if evidence.matcher:
        yield "| messages never learnt from | share | of | wanted |"
        yield "| --- | ---: | ---: | ---: |"
        for bound in evidence.matcher:
            wanted = f"≥ {bound.least:.2f}" if bound.least is not None else f"≤ {bound.most:.2f}"
            yield f"| {bound.what} | {bound.value:.3f} | {bound.of} | {wanted} |"
        yield ""


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else ROOT / "docs"
    if not folder.is_dir():
        print(f"{folder} is no directory: name one that exists.", file=sys.stderr)
        return 1
    found = admitted()
    (folder / "evidence.md").write_text(as_markdown(found), encoding="utf-8")
    (folder / "evidence.csv").write_text(as_csv(found), encoding="utf-8")
    print(f"evidence of {len(found)} scenarios: {folder / 'evidence.md'}, {folder / 'evidence.csv'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
