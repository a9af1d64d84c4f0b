"""Building a task's world: run as ``python -m scenarios.kit.build`` in a sandbox of its own, without network.

Reads one JSON object from standard input, ``{"folder", "task", "salt", "out"}``, and writes below ``out``:

- ``visible/data``, ``visible/docs``, ``visible/system``, ``visible/directory.md``, ``visible/briefs/<level>/TASK.md``;
- ``meta.json``: what the world chose and which records exist (``scenarios.kit.load.WorldMeta``).

The same input gives the same bytes on any machine. Problems are printed as JSON, ``{"problems": [[file, place, text]]}``.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scenarios.kit.errors import Problem, ScenarioInvalid
from scenarios.kit.format import LEVELS
from scenarios.kit.load import ORIGINAL, Scenario, load_scenario, load_stakeholders
from scenarios.kit.render import TextProblem, render_text
from scenarios.kit.world import BuildResult, Streams, TaskView

KIT = Path(__file__).parent


def world_module(scenario: Scenario, part: str) -> Any:
    """The scenario's ``world`` or ``grader`` module, whichever directory the scenario lies in."""
    parent = scenario.folder.parent
    if parent != KIT.parent:
        package = importlib.import_module("scenarios")
        if str(parent) not in package.__path__:
            package.__path__.append(str(parent))
    return importlib.import_module(f"scenarios.{scenario.id}.{part}")


def _text_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _render_file(scenario: Scenario, source: Path, target: Path, facts: dict[str, Any]) -> None:
    name = source.relative_to(scenario.folder).as_posix() if source.is_relative_to(scenario.folder) else source.name
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        text = source.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        shutil.copyfile(source, target)
        return
    target.write_text(render_text(text, facts, file=name), encoding="utf-8")


def _write_brief(scenario: Scenario, task_id: str, level: str, facts: dict[str, Any], visible: Path) -> None:
    """TASK.md of a level: the instruction (a variant may have its own) and the practical footer that all share."""
    briefs = scenario.folder / "briefs"
    own = briefs / task_id / f"{level}.md"
    source = own if task_id != ORIGINAL and own.is_file() else briefs / f"{level}.md"
    if not source.is_file():
        raise ScenarioInvalid(scenario.id, [Problem(f"briefs/{level}.md", "", "the file is missing")])
    target = visible / "briefs" / level / "TASK.md"
    _render_file(scenario, source, target, facts)
    footer = render_text((KIT / "brief_footer.md").read_text(), facts, file="brief_footer.md")
    target.write_text(f"{target.read_text().rstrip()}\n\n{footer}")


def _fix_times(root: Path, instant: float) -> None:
    """One modification time for everything, the customer's today: real ones would tell when and how a world was built."""
    for path in sorted(root.rglob("*"), reverse=True):
        os.utime(path, (instant, instant), follow_symlinks=False)


def visible_hash(visible: Path) -> str:
    digest = hashlib.sha256()
    for path in _text_files(visible):
        digest.update(f"{path.relative_to(visible).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def build(folder: Path, task_id: str, salt: str, out: Path) -> None:
    """Write the world of one task below ``out`` (an empty directory)."""
    scenario = load_scenario(folder)
    authored = scenario.facts_of(task_id)
    visible = out / "visible"
    shutil.copytree(folder / "system", visible / "system", ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    (visible / "data").mkdir()
    view = TaskView(scenario.id, task_id, authored)
    result: BuildResult = world_module(scenario, "world").build(view, Streams(scenario.id, task_id, salt), visible)
    facts = {**authored, **result.facts}
    people = load_stakeholders(scenario, facts).stakeholders
    texts = {**facts, "config": scenario.config, "people": people}
    for source in _text_files(folder / "docs"):
        _render_file(scenario, source, visible / "docs" / source.relative_to(folder / "docs"), texts)
    _render_file(scenario, folder / "directory.md", visible / "directory.md", texts)
    for level in LEVELS:
        _write_brief(scenario, task_id, level, texts, visible)
    calendar = scenario.config.calendar
    _fix_times(visible, (calendar.starts_at if calendar else datetime(2026, 1, 1)).replace(tzinfo=UTC).timestamp())
    meta = {
        "facts": dict(result.facts),
        "records": {kind: sorted(ids) for kind, ids in result.records.items()},
        "record_groups": {
            group: {kind: sorted(ids) for kind, ids in kinds.items()} for group, kinds in result.record_groups.items()
        },
        "sha256": visible_hash(visible),
    }
    (out / "meta.json").write_text(json.dumps(meta, sort_keys=True, ensure_ascii=False))


def main() -> int:
    request = json.load(sys.stdin)
    try:
        build(Path(request["folder"]), request["task"], request["salt"], Path(request["out"]))
    except ScenarioInvalid as invalid:
        problems = invalid.problems
    except TextProblem as error:
        problems = (error.problem,)
    else:
        return 0
    print(json.dumps({"problems": [[problem.file, problem.place, problem.expected] for problem in problems]}))
    return 2


if __name__ == "__main__":
    sys.exit(main())
