"""From inside the two sandboxes that a delivery meets: nothing of scenarios, environment or other worlds can be read.

The workspace and the deployment are made as for a run and for a grade. A program in each walks everything it can see and
compares by content, so that a copy under another name is found too.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sysconfig
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings

import grading
import stakeholders
from fdegym.authoring.admission.findings import Check, Finding
from fdegym.authoring.checks.leaks import Search, Secrets, secrets_of
from fdegym.authoring.checks.levels import unsaved_run
from fdegym.authoring.checks.shown import Passage, shown_files
from fdegym.delivery.materials import desk_directory, materials_of
from fdegym.lib.errors import FdegymError
from grading.deployment import grade_spec
from grading.measure import PURPOSE
from grading.processes import process_name
from grading.worlds import ensure_world, grading_runtime
from scenarios import kit
from scenarios.kit.load import Scenario, Task
from workspaces.runtime.base import SandboxSpec

PROBE = Path(__file__).with_name("probe.py")
PATIENCE_S = 300.0
SMALLEST = 32  #: bytes: an empty ``__init__.py`` is nobody's secret
MOST_TOLD = 6
PACKAGE = "the environment's package"
MODULES = ("fdegym", "grading", "scenarios", "stakeholders", "workspaces", "django", "numpy", "pydantic", "celery")


class ProbeFailed(FdegymError):
    """The program inside a sandbox did not answer."""


@dataclasses.dataclass(frozen=True, slots=True)
class Forbidden:
    """What must not be readable: contents by SHA-256, each with words for it; host paths; importable modules."""

    contents: Mapping[str, tuple[int, str]]
    paths: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        sizes: dict[str, list[str]] = {}
        for digest, (size, _) in self.contents.items():
            sizes.setdefault(str(size), []).append(digest)
        return {"files": sizes, "paths": list(self.paths), "modules": list(MODULES)}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _contents(what: str, paths: Iterable[Path]) -> Iterator[tuple[str, tuple[int, str]]]:
    for path in paths:
        if path.is_file() and path.stat().st_size >= SMALLEST and path.suffix != ".pyc":
            data = path.read_bytes()
            yield _sha256(data), (len(data), f"{what} {path.name}")


def forbidden_to(task: Task) -> Forbidden:
    """Scenario, kit, engines, site-packages and other worlds; not what the task's own workspace shows."""
    root, site = task.scenario.folder, Path(sysconfig.get_path("purelib"))
    engines = [Path(str(package.__file__)).parent for package in (grading, kit)]
    ask = Path(str(stakeholders.__file__)).parent / "ask"
    worlds = [path for path in Path(settings.WORLD_CACHE).glob("*") if path.is_dir()]
    found = dict(_contents("the scenario's", root.rglob("*")))
    for folder in engines:
        found |= dict(_contents(f"the product's {folder.name}/", folder.rglob("*.py")))
    found |= dict(_contents("the product's stakeholders/", Path(str(stakeholders.__file__)).parent.glob("*.py")))
    found |= dict(_contents(PACKAGE, site.glob("*/__init__.py")))
    for world in worlds:
        found |= dict(_contents("a world's", world.rglob("*")))
    open_to_all = {
        _sha256(path.read_bytes()) for path in (*shown_files(task).values(), *ask.iterdir()) if path.is_file()
    }
    paths = [root, site, settings.VAR, settings.WORLD_CACHE, task.world, *engines, settings.ROOT / "manage.py"]
    return Forbidden(
        {digest: row for digest, row in found.items() if digest not in open_to_all},
        list(dict.fromkeys(map(str, paths))),
    )


@contextmanager
def specifications(task: Task) -> Iterator[dict[str, SandboxSpec]]:
    """Workspace and deployment as a run and a grade would have them, for as long as the block runs."""
    run = unsaved_run(task, "L3")
    workspace = materials_of(run, task).spec(str(run.id))
    try:
        with tempfile.TemporaryDirectory(dir=settings.VAR, prefix="drops-") as drops:
            deployment = grade_spec(task.scenario.config, task.system, Path(drops), {})
            yield {"the workspace": workspace, "the deployment": deployment}
    finally:
        desk_directory(run).rmdir()


def look_around(spec: SandboxSpec, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Start a sandbox of this kind and let ``probe.py`` look around in it."""
    runtime, name = grading_runtime(), f"look-{uuid.uuid4().hex[:16]}"
    labels = {**PURPOSE, "by": process_name()}
    try:
        runtime.create(name, dataclasses.replace(spec, labels=labels))
        sandbox = runtime.start(name)
        done = sandbox.exec(
            ["/usr/bin/python3", "-I", "-c", PROBE.read_text()],
            stdin=json.dumps(asked).encode(),
            timeout_s=PATIENCE_S,
            output_bytes=8 << 20,
        )
        if done.exit_status != 0:
            raise ProbeFailed(f"Looking around in a sandbox failed: {done.stderr.decode('utf-8', 'replace')[-600:]}")
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer
    finally:
        runtime.destroy(name)


def visible_from_inside(task: Task, forbidden: Forbidden, where: str, seen: Mapping[str, Any]) -> list[str]:
    """What a sandbox shows and must not, in words. The operating system may have a package of its own that is the same."""
    found = [f"{where} can read the host's {path}" for path in seen["paths"]]
    found += [f"Python in {where} can import {name}" for name in seen["modules"]]
    found += [
        f"{where} shows {forbidden.contents[digest][1]} as {path}"
        for path, digest in seen["files"]
        if not (path.startswith("/usr/") and forbidden.contents[digest][1].startswith(PACKAGE))
    ]
    secrets = secrets_of(task)
    search = Search(Secrets(names=secrets.names, values=secrets.values, patterns=secrets.patterns))
    for what, text in seen["told"].items():
        found += [f"{where} tells {words} by {what}" for words in search.found(Passage(what, text))]
    return list(dict.fromkeys(found))


def check_isolation(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    for task_id in tasks:
        task = ensure_world(scenario, task_id)
        forbidden = forbidden_to(task)
        found: list[str] = []
        with specifications(task) as specs:
            for where, spec in specs.items():
                found += visible_from_inside(task, forbidden, where, look_around(spec, forbidden.as_json()))
        figures = {"contents_looked_for": len(forbidden.contents), "found": len(found)}
        more = f"; and {len(found) - MOST_TOLD} more" if len(found) > MOST_TOLD else ""
        words = f"{'; '.join(found[:MOST_TOLD])}{more}. Take it out of what the sandbox mounts." if found else ""
        yield Finding("isolation", task_id, not found, figures, words)


ISOLATION = Check(
    "isolation", "neither sandbox shows anything of scenarios, environment or other worlds", check_isolation, seconds=10
)
