"""What made a grade: the package, the grader's own code, the libraries. A grade names them, so that it can be repeated."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import tomllib
from pathlib import Path

import numpy

from scenarios.kit.load import content_hash

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


def worker_environment() -> dict[str, str]:
    return {"package": package_version(), "worker_python": platform.python_version(), "numpy": numpy.__version__}
