"""Deletes ``system/`` with all it holds before handing it in, and leaves a folder without rights in its place."""

import os
import shutil

FAILS = ("exit",)


def in_workspace(bypass):
    for name in os.listdir("/workspace/system"):
        path = os.path.join("/workspace/system", name)
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    bypass.attempt("the folder itself", lambda: os.rmdir("/workspace/system") or "removed")
    bypass.did("deleted")
