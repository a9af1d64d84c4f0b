"""Looks around from inside a sandbox: ``python3 -I -c PROGRAM`` there. Standard library only.

Reads ``{"files": {size: [sha256]}, "paths": [host paths], "modules": [names]}`` from standard input and writes which of
them are readable, and what the sandbox tells of itself, ``{"files": [[path, sha256]], "paths", "modules",
"told": {what: text}}``.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import socket
import stat
import sys
from pathlib import Path
from typing import Any

SKIPPED = ("/proc", "/sys", "/dev")


def same_files(wanted: dict[str, list[str]]) -> list[list[str]]:
    found = []
    for folder, names, files in os.walk("/"):
        names[:] = [name for name in names if f"{folder.rstrip('/')}/{name}" not in SKIPPED]
        for path in (Path(folder, name) for name in files):
            try:
                seen = path.lstat()
                if not stat.S_ISREG(seen.st_mode) or str(seen.st_size) not in wanted:
                    continue
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError:
                continue
            if digest in wanted[str(seen.st_size)]:
                found.append([str(path), digest])
    return found


def importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def told() -> dict[str, str]:
    """Texts that say something about where this is: mounts, variables, the machine's name, who else runs."""
    texts = {"its host name": socket.gethostname()}
    own = [("its list of mounts", Path("/proc/self/mountinfo")), ("the kernel's command line", Path("/proc/cmdline"))]
    others = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    parts = [(f"the {part} of process {path.name}", path / part) for path in others for part in ("cmdline", "environ")]
    for what, path in own + parts:
        try:
            texts[what] = path.read_text("utf-8", "replace").replace("\0", "\n")
        except OSError:
            continue
    return texts


def main() -> None:
    asked: dict[str, Any] = json.load(sys.stdin)
    answer = {
        "files": same_files(asked["files"]),
        "paths": [path for path in asked["paths"] if os.access(path, os.R_OK)],
        "modules": [name for name in asked["modules"] if importable(name)],
        "told": told(),
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
