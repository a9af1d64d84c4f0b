"""What made a grade: the package, the grader's own code, the libraries. A grade names them, so that it can be repeated."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import platform
import sqlite3
import tomllib
from pathlib import Path

import numpy

from scenarios import kit
from scenarios.kit.load import content_hash
from workspaces.runtime import base

_HERE = Path(__file__).parent


@functools.cache
def package_version() -> str:
    """Version of the installed package, or of the checkout that runs."""
    try:
        return importlib.metadata.version("fdegym")
    except importlib.metadata.PackageNotFoundError:
        project = tomllib.loads((_HERE.parent / "pyproject.toml").read_text())["project"]
        return str(project["version"])


@functools.cache
def grader_version() -> str:
    """The package's version and a hash of the code that replays and scores: other code, another version."""
    return f"{package_version()}+{content_hash(_HERE)[:12]}"


@functools.cache
def replay_hash() -> str:
    """Of what decides a KPI besides world and delivery: the code of grader, kit and sandbox, and the libraries."""
    sandbox = Path(base.__file__).parent
    folders = (_HERE, Path(kit.__file__).parent, sandbox, sandbox.parent / "launcher")
    parts = [content_hash(folder) for folder in folders]
    parts += [platform.python_version(), numpy.__version__, sqlite3.sqlite_version]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def worker_environment() -> dict[str, str]:
    return {"package": package_version(), "worker_python": platform.python_version(), "numpy": numpy.__version__}
