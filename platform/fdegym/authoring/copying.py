"""A new scenario, begun as a copy of the training scenario under another name."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from fdegym.lib.errors import FdegymError
from scenarios.kit.load import scenario_ids

TEMPLATE = "first_delivery"
#: What is measured of the template, or left behind by interpreters and editors.
NOT_COPIED = ("anchors.json", "matcher.npz", "__pycache__", "*.pyc", ".DS_Store")
_NAME = re.compile(r"[a-z][a-z0-9_]{1,63}")


class CannotBegin(FdegymError):
    """No folder was made. The message says why, and what to do."""


def begin_scenario(scenario_id: str, directory: Path | None = None) -> Path:
    """Copy the template as ``scenario_id`` below ``directory``; returns the new folder, which is there whole or not at all.

    Without a directory: the first private one of SCENARIO_DIRS that can be written, else the shipped ``scenarios/``.
    Raises ``CannotBegin``, and ``OSError`` where the disk does not take it.
    """
    _refuse_name(scenario_id)
    source = settings.ROOT / "scenarios" / TEMPLATE
    parent = _parent(directory)
    target = parent / scenario_id
    if target.exists() or scenario_id in scenario_ids([*settings.SCENARIO_DIRS, parent]):
        raise CannotBegin(f"There is a scenario {scenario_id} already, or a folder of that name; choose another id.")
    with tempfile.TemporaryDirectory(dir=parent, prefix=".new-") as scratch:
        copy = Path(scratch) / scenario_id
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
            if path.is_file():
                _rename(path, scenario_id)
        _as_draft(copy / "scenario.toml")
        copy.rename(target)
    return target


def _refuse_name(scenario_id: str) -> None:
    if not _NAME.fullmatch(scenario_id):
        raise CannotBegin(
            f"{scenario_id!r} is no id: small letters, digits and underscores, 2 to 64 of them, a letter first."
        )
    if scenario_id == "kit" or (settings.ROOT / "scenarios" / scenario_id).exists():
        raise CannotBegin(f"{scenario_id} is taken in the shipped scenarios/; choose another id.")


def _parent(directory: Path | None) -> Path:
    shipped = settings.ROOT / "scenarios"
    if directory is None:
        return _first_writable([*(place for place in settings.SCENARIO_DIRS if place != shipped), shipped])
    if not directory.is_dir():
        raise CannotBegin(f"{directory} is no directory; make it first.")
    return _first_writable([directory.resolve()])


def _first_writable(places: Sequence[Path]) -> Path:
    for place in places:
        if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
            return place
    named = ", ".join(str(place) for place in places)
    raise CannotBegin(f"This user may not write {named}; name a place of yours with --directory.")


def _rename(path: Path, scenario_id: str) -> None:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    if TEMPLATE in text:
        path.write_text(text.replace(TEMPLATE, scenario_id), encoding="utf-8")


def _as_draft(manifest: Path) -> None:
    """Not offered until its author says so; nobody has signed it."""
    text = manifest.read_text(encoding="utf-8").partition("\n[signoff]")[0]
    manifest.write_text(re.sub(r'(?m)^status = ".*"$', 'status = "draft"', text).rstrip() + "\n", encoding="utf-8")
