"""How an entry's hooks are called: in the workspace as a command, in a call of production around the system's own code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_SHARED: dict[str, Any] = {}


def _hook(name: str, argv: list[str]) -> None:
    sys.path.insert(0, str(HERE))
    try:
        import bypass
        import bypass_entry
    finally:
        sys.path.remove(str(HERE))
    hook = getattr(bypass_entry, name, None)
    if hook is None:
        return
    given = _SHARED.setdefault("bypass", bypass.Bypass(name, argv, json.loads((HERE / "known.json").read_text())))
    given.where = name
    hook(given)


def before_call(module: str) -> None:
    """Only where the entry point was called; imported by another module of the system it is what it was."""
    if module == "__main__":
        _hook("before_call", list(sys.argv))


def after_call(module: str) -> None:
    if module == "__main__":
        _hook("after_call", list(sys.argv))


if __name__ == "__main__":
    _hook("in_workspace", list(sys.argv))
