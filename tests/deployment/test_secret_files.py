"""Secrets in files: taken when only the service's user, or its group, can read them; else refused in one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fdegym import env
from fdegym.gateway.key import KeyUnusable, take_key
from tests.deployment.test_env import KEY, SECRETS

FIELDS = {
    "FDEGYM_SECRET_KEY": "secret_key",
    "FDEGYM_OLD_KEYS": "old_keys",
    "DATABASE_URL": "database_url",
    "REDIS_URL": "redis_url",
    "WORLD_SALT": "world_salt",
}


@pytest.fixture(autouse=True)
def _nothing_but_a_var_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in env.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FDEGYM_VAR", str(tmp_path / "var"))


def secret_file(directory: Path, content: str | bytes, mode: int = 0o600) -> str:
    path = directory / "secret"
    path.unlink(missing_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("mode", [0o400, 0o600, 0o440, 0o640])
def test_a_secret_is_taken_from_its_file_without_the_line_end(
    name: str, mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, SECRETS[name])
    given = getattr(env.read(), FIELDS[name])
    monkeypatch.delenv(name)
    monkeypatch.setenv(f"{name}_FILE", secret_file(tmp_path, f"{SECRETS[name]}\n", mode))
    assert getattr(env.read(), FIELDS[name]) == given
    assert given


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("mode", [0o604, 0o644, 0o606, 0o601])
def test_a_file_that_everybody_reaches_is_refused(
    name: str, mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{name}_FILE", secret_file(tmp_path, SECRETS[name], mode))
    with pytest.raises(env.EnvironmentProblem, match=rf"^{name}_FILE names .*chmod 600") as refused:
        env.read()
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_given_twice_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, SECRETS[name])
    monkeypatch.setenv(f"{name}_FILE", secret_file(tmp_path, SECRETS[name]))
    with pytest.raises(env.EnvironmentProblem, match=rf"^{name} and {name}_FILE are both set") as refused:
        env.read()
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", b"k" * 70_000], ids=["empty", "blank", "bytes", "long"])
def test_a_file_without_a_secret_is_not_taken_for_none(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An emptied file must not quietly turn PostgreSQL into SQLite, or take the salt from every world."""
    monkeypatch.setenv("WORLD_SALT_FILE", secret_file(tmp_path, content))
    with pytest.raises(env.EnvironmentProblem, match="holds no secret"):
        env.read()


def test_what_the_file_holds_is_checked_like_what_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FDEGYM_SECRET_KEY_FILE", secret_file(tmp_path, "short"))
    with pytest.raises(env.EnvironmentProblem, match="shorter than 50"):
        env.read()


def test_the_key_of_the_model_is_held_to_the_same_rule(tmp_path: Path) -> None:
    assert take_key({"FDEGYM_GATEWAY_KEY_FILE": secret_file(tmp_path, KEY, 0o440)}) == KEY
    assert take_key({"FDEGYM_GATEWAY_KEY_FILE": secret_file(tmp_path, "\n")}) == "", "no model is connected"
    with pytest.raises(KeyUnusable, match="chmod 600"):
        take_key({"FDEGYM_GATEWAY_KEY_FILE": secret_file(tmp_path, KEY, 0o644)})


def test_a_pipe_has_no_mode_to_speak_of(tmp_path: Path) -> None:
    """`make run` hands the model's key over by its process's standard input."""
    reading, writing = os.pipe()
    os.write(writing, KEY.encode())
    os.close(writing)
    try:
        assert take_key({"FDEGYM_GATEWAY_KEY_FILE": f"/proc/self/fd/{reading}"}) == KEY
    finally:
        os.close(reading)
