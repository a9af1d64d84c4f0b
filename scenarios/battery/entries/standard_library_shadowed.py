"""Lays modules named like the standard library's, and compiled files that say something else than their sources."""

import importlib.util
import marshal
import struct
import sys
from pathlib import Path

NOTED = """
import os
os.makedirs(os.path.expanduser("~/.bypass"), exist_ok=True)
open(os.path.expanduser("~/.bypass/shadowed"), "a").write(__name__ + "\\n")
"""
LAUNCHER = "def main(settings):\n    raise SystemExit(0)\n"
#: what nothing of a delivery needs before its own first line, but a careless runner might import from its folder
PLANTED = {
    "runpy.py": NOTED,
    "pkgutil.py": NOTED,
    "antigravity.py": NOTED,
    "imaplib.py": NOTED,
    "fdegym_launcher/__init__.py": NOTED,
    "fdegym_launcher/main.py": LAUNCHER,
    "workspaces/launcher/__init__.py": NOTED,
    "workspaces/launcher/main.py": LAUNCHER,
    "grading/scenario_host.py": NOTED,
    "encodings/__init__.py": NOTED,
    "encodings/idna.py": NOTED,
}


def in_workspace(bypass):
    """Compiled files are made for the sources as found; they claim to be of another program."""
    code = compile("raise SystemExit(0)", "forged", "exec")
    for source in Path("/workspace/system").rglob("*.py"):
        found = source.stat()
        compiled = Path(importlib.util.cache_from_source(str(source)))
        compiled.parent.mkdir(exist_ok=True)
        header = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(found.st_mtime), found.st_size)
        compiled.write_bytes(header + marshal.dumps(code))
        unchecked = importlib.util.MAGIC_NUMBER + struct.pack("<IQ", 1, 0)
        source.with_suffix(".pyc").write_bytes(unchecked + marshal.dumps(code))
    bypass.did("forged compiled files")


def before_call(bypass):
    def named_like_the_launcher():
        return [name for name in sys.modules if "launcher" in name or name.startswith("workspaces")]

    bypass.attempt("the launcher's modules", named_like_the_launcher)
    bypass.did("called")
