"""What of an entry is laid into a workspace: the files of the attack, and what stands before each entry point."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fdegym.authoring.battery.entries import FOLDER, Entry
from fdegym.lib.errors import FdegymError
from scenarios.kit.format import EntryPoint

SYSTEM = "/workspace/system"
PLACE = f"{SYSTEM}/.bypass"  #: below system/, so that it is handed in with it
FOUND = "found"  #: below it, the entry points as they were
HOME_PLACE = "/home/engineer/.bypass"
REPORT = f"{HOME_PLACE}/report"

#: Stands in an entry point's place: the attack, and between its two halves the system as found, under its own name.
BEFORE_AN_ENTRY_POINT = """\
import sys
sys.path.insert(0, {place!r})
from bypass_call import after_call, before_call
del sys.path[0]
before_call(__name__)
try:
    with open({found!r}, "rb") as found:
        exec(compile(found.read(), __file__, "exec", dont_inherit=True))
finally:
    after_call(__name__)
"""


class EntryPointUnplaceable(FdegymError):
    """An entry point is called in a way that shows no file: nothing can be put before it."""


def module_files(argv: list[str]) -> list[str]:
    """Where the code of a call may lie below ``system/``: ``python -m a.b …`` or ``python a/b.py …``."""
    if len(argv) > 2 and argv[1] == "-m":
        path = argv[2].replace(".", "/")
        return [f"{path}.py", f"{path}/__main__.py"]
    if len(argv) > 1 and argv[1].endswith(".py"):
        return [argv[1]]
    raise EntryPointUnplaceable(f"{' '.join(argv)}: an entry point is python -m MODULE or python FILE.py")


def attack_files(entry: Entry, known: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """The files that every entry needs where it acts: itself, what it works with, what it knows, how it is called."""
    yield "bypass_entry.py", entry.source.encode()
    yield "known.json", json.dumps(known).encode()
    for name in ("bypass.py", "bypass_call.py"):
        yield name, (FOLDER / name).read_bytes()


def laid_files(
    entry: Entry, known: Mapping[str, Any], points: list[EntryPoint], read: Callable[[str], bytes | None]
) -> dict[str, bytes]:
    """Absolute path → content. ``read`` gives a file of ``system/`` as found, None where there is none."""
    laid = {f"{HOME_PLACE}/{name}": data for name, data in attack_files(entry, known)}
    laid |= {f"{SYSTEM}/{path}": text.encode() for path, text in entry.planted.items()}
    if not entry.in_calls:
        return laid
    laid |= {f"{PLACE}/{name}": data for name, data in attack_files(entry, known)}
    for point in points:
        for path in module_files(point.argv):
            if f"{PLACE}/{FOUND}/{path}" in laid:
                break
            as_found = read(path)
            if as_found is not None:
                laid[f"{PLACE}/{FOUND}/{path}"] = as_found
                text = BEFORE_AN_ENTRY_POINT.format(place=PLACE, found=f"{PLACE}/{FOUND}/{path}")
                laid[f"{SYSTEM}/{path}"] = text.encode()
                break
        else:
            raise EntryPointUnplaceable(f"{' '.join(point.argv)}: system/ holds no file of it")
    return laid
