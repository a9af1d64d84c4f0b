"""``ops/compose.yaml`` and the systemd units, read: what they start, with which environment and secrets."""

from __future__ import annotations

import functools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.deployment.conftest import need

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "ops" / "compose.yaml"
UNITS = ROOT / "ops" / "systemd"
#: Debian's own Python has PyYAML, with the package that checks YAML.
READ_YAML = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))"
INTERPOLATED = re.compile(r"\$\{([A-Z_]+)(?::([-?])([^}]*))?\}")


@functools.cache
def compose() -> dict[str, Any]:
    """The file as YAML says it, with its variables not yet filled in."""
    reading = ["/usr/bin/python3", "-c", READ_YAML]
    done = subprocess.run(reading, input=COMPOSE.read_text(), capture_output=True, text=True, check=False)
    need(done.returncode == 0, "PyYAML for Debian's Python (Debian: yamllint)")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose()["services"]
    return found


def ours() -> dict[str, dict[str, Any]]:
    """The services that run our own code."""
    return {name: service for name, service in services().items() if service["image"].startswith("fdegym-site:")}


def example() -> dict[str, str]:
    """What the example says about a site."""
    lines = (ROOT / "ops" / "compose.env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def filled_in(text: str) -> str:
    """With the values of the example, as compose fills them in."""

    def value(found: re.Match[str]) -> str:
        name, how, otherwise = found.groups()
        given = example().get(name, "")
        return given or (otherwise if how == "-" else "")

    return INTERPOLATED.sub(value, text)


def command_of(name: str) -> list[str]:
    """A service's command line, interpreter and programs as they are called here."""
    programs = {"python": [sys.executable], "celery": [sys.executable, "-m", "celery"]}
    first, *rest = [filled_in(part) for part in services()[name]["command"]]
    return [*programs[first], *rest]


def environment_of(name: str) -> dict[str, str]:
    return {key: filled_in(value) for key, value in services()[name].get("environment", {}).items()}


def unit(name: str) -> dict[str, list[str]]:
    """A systemd unit: key → its values in order, over all sections."""
    found: dict[str, list[str]] = {}
    for line in (UNITS / name).read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def unit_environment(name: str) -> dict[str, str]:
    pairs = [pair for line in unit(name).get("Environment", []) for pair in shlex.split(line)]
    return dict(pair.split("=", 1) for pair in pairs)
