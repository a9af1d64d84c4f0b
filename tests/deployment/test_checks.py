"""System checks: errors stop the start, warnings tell an operator what is weak about the site."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks

from fdegym.env import Environment

ROOT = Path(__file__).resolve().parents[2]
POSTGRES, REDIS = "postgres://alice@db/fdegym", "redis://cache"


@pytest.fixture
def found(settings: Any) -> Callable[..., list[str]]:
    """``found(bind=…, …)``: ids of what the checks find in such an environment."""
    environment: Environment = settings.ENVIRONMENT

    def look(**changes: Any) -> list[str]:
        settings.ENVIRONMENT = dataclasses.replace(environment, **changes)
        settings.SIGNUP = settings.ENVIRONMENT.signup
        messages = [message for message in run_checks() if str(message.id).startswith("fdegym.")]
        assert all(message.hint for message in messages), "every finding says what to do"
        return sorted(str(message.id) for message in messages)

    return look


def test_the_embedded_default_has_nothing_to_be_said_about(found: Callable[..., list[str]]) -> None:
    assert found() == []


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", "192.168.1.7", "site.internal"])
def test_tracebacks_on_a_site_that_others_reach_are_an_error(found: Callable[..., list[str]], bind: str) -> None:
    assert found(debug=True, bind=bind) == ["fdegym.E001"]
    assert found(debug=False, bind=bind) == []


@pytest.mark.parametrize("bind", ["127.0.0.1", "::1", "[::1]", "localhost", "127.8.9.1"])
def test_tracebacks_for_oneself_are_fine_until_a_proxy_brings_others(
    found: Callable[..., list[str]], bind: str
) -> None:
    assert found(debug=True, bind=bind) == []
    assert found(debug=True, bind=bind, secure_cookies=True) == ["fdegym.E001"]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(0o700, []), (0o750, ["fdegym.W002"]), (0o701, ["fdegym.E002"]), (0o755, ["fdegym.E002"])],
)
def test_the_var_directory_is_private(
    found: Callable[..., list[str]], tmp_path: Path, mode: int, expected: list[str]
) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "var").chmod(mode)
    assert found(var=tmp_path / "var") == expected


def test_a_var_directory_that_is_gone_is_an_error(found: Callable[..., list[str]], tmp_path: Path) -> None:
    assert found(var=tmp_path / "gone") == ["fdegym.E002"]


def test_open_signup_without_https_is_warned_of_where_others_reach_the_site(found: Callable[..., list[str]]) -> None:
    assert found(signup="open", bind="0.0.0.0") == ["fdegym.W003"]
    assert found(signup="open", bind="0.0.0.0", secure_cookies=True) == []
    assert found(signup="open", bind="127.0.0.1") == []
    assert found(signup="closed", bind="0.0.0.0") == []


def test_half_a_deployment_is_warned_of(found: Callable[..., list[str]]) -> None:
    assert found(database_url=POSTGRES) == ["fdegym.W004"]
    assert found(redis_url=REDIS) == ["fdegym.W005"]
    assert found(database_url=POSTGRES, redis_url=REDIS) == []


def test_a_machine_without_sandboxes_does_not_start_unless_others_have_them(
    found: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from workspaces import services

    report = dataclasses.replace(services.sandbox_report(), usable=False, problem="bwrap is missing: install it.")
    monkeypatch.setattr(services, "sandbox_report", lambda: report)
    assert found() == ["fdegym.E006"]
    assert found(database_url=POSTGRES, redis_url=REDIS) == ["fdegym.W006"]


def test_the_desk_does_not_start_with_an_error(tmp_path: Path) -> None:
    """In a process of its own: checks that nobody runs find nothing."""
    (tmp_path / "var").mkdir(mode=0o700)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FDEGYM_")} | {
        "FDEGYM_VAR": str(tmp_path / "var"),
        "FDEGYM_DEBUG": "1",
        "FDEGYM_BIND": "0.0.0.0",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "DJANGO_SETTINGS_MODULE": "fdegym.settings",
    }
    command = [sys.executable, "-m", "django", "desk"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert "FDEGYM_DEBUG=1 shows tracebacks" in ended.stderr
    assert "Traceback" not in ended.stderr
