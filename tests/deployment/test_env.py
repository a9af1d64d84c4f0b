"""The environment: what is wrong is said in one sentence that names it, before anything is started."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fdegym import env

ROOT = Path(__file__).resolve().parents[2]
KEY = "k" * 60
READ = "from fdegym import env; e = env.read_or_exit(); print(e.secret_key)"


@pytest.fixture(autouse=True)
def _nothing_but_a_var_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in env.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FDEGYM_VAR", str(tmp_path / "var"))


#: Root reads everything: there another user has to try.
NOBODY = 65534 if os.geteuid() == 0 else None


def in_a_process(program: str = READ, as_user: int | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "platform"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        user=as_user,
    )


#: What may lie in a file of its own, and a value that does.
SECRETS = {
    "FDEGYM_SECRET_KEY": KEY,
    "FDEGYM_OLD_KEYS": f"{KEY},{'l' * 60}",
    "DATABASE_URL": "postgres://alice:hunter2@db/fdegym",
    "REDIS_URL": "redis://:hunter2@cache:6379/0",
    "WORLD_SALT": "hunter2",
}
WRONG = [
    ("FDEGYM_DEBUG", "maybe"),
    ("FDEGYM_HTTPS", "2"),
    ("FDEGYM_PORT", "0"),
    ("FDEGYM_PORT", "65536"),
    ("FDEGYM_PORT", "eighty"),
    ("FDEGYM_PORT", "²"),
    ("FDEGYM_PORT", "-1"),
    ("FDEGYM_WORKSPACES", "0"),
    ("FDEGYM_WORKSPACES", "many"),
    ("FDEGYM_WORKSPACES_MB", "8 GB"),
    ("FDEGYM_WORKSPACES_PER_USER", "0"),
    ("FDEGYM_RUNTIME", "podman"),
    ("FDEGYM_DOCKER", "tcp://10.0.0.1:2375"),
    ("FDEGYM_WORKSPACES_MB", "1e3"),
    ("FDEGYM_BIND", "0.0.0.0:8000"),
    ("FDEGYM_BIND", "not a host"),
    ("FDEGYM_BIND", "10.0.0.0/8"),
    ("FDEGYM_HOSTS", "https://example.org"),
    ("FDEGYM_HOSTS", "example.org:8000"),
    ("FDEGYM_HOSTS", "example.org other.org"),
    ("FDEGYM_ORIGINS", "example.org"),
    ("FDEGYM_ORIGINS", "https://example.org/path"),
    ("FDEGYM_PROXIES", "my-proxy"),
    ("FDEGYM_PROXIES", "*"),
    ("FDEGYM_SIGNUP", "everybody"),
    ("FDEGYM_SECRET_KEY", "short"),
    ("FDEGYM_OLD_KEYS", "k" * 60 + ",short"),
    ("FDEGYM_SOCKETS", "/tmp/" + "a-long-way-down/" * 3),
    ("DATABASE_URL", "mysql://alice:hunter2@host/name"),
    ("DATABASE_URL", "postgres://alice:hunter2@host"),
    ("DATABASE_URL", "postgres://alice:hunter2@host:port/name"),
    ("DATABASE_URL", "postgres://alice:hunter2@%2Frun%2Fpostgresql/name"),
    ("REDIS_URL", "localhost:6379"),
    ("REDIS_URL", "redis://:hunter2@host:66000/0"),
    ("SCENARIO_DIRS", "/no/such/directory"),
    ("FDEGYM_SITE_PROCESSES", "0"),
    ("FDEGYM_DRAIN_S", "soon"),
    ("FDEGYM_KEEP_RECORDINGS_DAYS", "-1"),
    ("FDEGYM_KEEP_SUBMISSIONS_DAYS", "1e3"),
    ("FDEGYM_KEEP_MODEL_WORDS_DAYS", "for ever"),
    *((f"{name}_FILE", "/no/such/file") for name in SECRETS),
    ("FDEGYM_HSTS_DAYS", "a year"),
    ("FDEGYM_LOG", "xml"),
    ("FDEGYM_METRICS_TOKEN_FILE", "/no/such/file"),
    ("FDEGYM_METRICS_TOKEN_FILE", "/dev/null"),
    ("FDEGYM_GATEWAY", "someone"),
    ("FDEGYM_GATEWAY", "openai"),
    ("FDEGYM_GATEWAY_URL", "models.example.org/v1"),
    ("FDEGYM_GATEWAY_URL", "https://alice:hunter2@models.example.org/v1"),
    ("FDEGYM_GATEWAY_URL", "https://models.example.org:0/v1"),
    ("FDEGYM_GATEWAY_URL", "https://models.example.org/v1?key=hunter2"),
    ("FDEGYM_GATEWAY_MODELS", "small"),
    ("FDEGYM_GATEWAY_MODELS", "small=0.15"),
    ("FDEGYM_GATEWAY_MODELS", "small=0.0001/1"),
    ("FDEGYM_GATEWAY_MODELS", "small=1/2,small=1/2"),
    ("FDEGYM_GATEWAY_MODELS", "default=1/2"),
    ("FDEGYM_GATEWAY_CURRENCY", "dollars"),
    ("FDEGYM_GATEWAY_MONEY", "-1"),
    ("FDEGYM_GATEWAY_MONEY", "1e3"),
    ("FDEGYM_GATEWAY_TIMEOUT_S", "0"),
    ("FDEGYM_GATEWAY_TIMEOUT_S", "601"),
    ("FDEGYM_GATEWAY_BODIES", "perhaps"),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_value_is_refused_in_one_sentence_that_names_the_variable(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(env.EnvironmentProblem) as refused:
        env.read()
    sentence = str(refused.value)
    assert name in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "hunter2" not in sentence, "a password in a message"


def test_every_variable_that_can_be_wrong_is_tried_here() -> None:
    # the key is read by the gateway's process alone, a recording is looked for only where it is answered from
    of_the_gateway = {"FDEGYM_GATEWAY_KEY", "FDEGYM_GATEWAY_KEY_FILE", "FDEGYM_GATEWAY_RECORDING"}
    anything_goes = {"FDEGYM_VAR", "FDEGYM_WORKSPACE_IMAGE", "WORLD_SALT"} | of_the_gateway
    assert set(env.VARIABLES) - {name for name, _ in WRONG} == anything_goes


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FDEGYM_HOSTS", "example.org,.example.net,*,[::1],10.0.0.7"),
        ("FDEGYM_ORIGINS", "https://example.org,http://127.0.0.1:8000,https://*.example.net,http://[::1]:8000"),
        ("FDEGYM_PROXIES", "10.0.0.1,fd00::/8,127.0.0.0/8"),
        ("FDEGYM_BIND", "::"),
        ("FDEGYM_BIND", "site.internal"),
        ("DATABASE_URL", "postgres://alice:p%40ss@db.internal:5433/fdegym?sslmode=require"),
        ("DATABASE_URL", "postgres://alice@//run/postgresql/fdegym"),
        ("REDIS_URL", "rediss://:secret@cache.internal:6380/2"),
        ("REDIS_URL", "unix:///run/redis/redis.sock?db=1"),
        ("FDEGYM_PORT", "65535"),
    ],
)
def test_what_operators_really_write_is_taken(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    env.read()


def test_a_process_that_is_told_something_wrong_ends_with_that_sentence_and_status_78(tmp_path: Path) -> None:
    ended = in_a_process(FDEGYM_VAR=str(tmp_path), FDEGYM_PORT="http")
    assert ended.returncode == 78
    assert ended.stdout == ""
    assert ended.stderr == "fdegym: FDEGYM_PORT is 'http'; it must be a number from 1 to 65535.\n"


def test_a_place_where_nothing_can_be_written_is_said_and_not_traced_back(tmp_path: Path) -> None:
    """A file stands where the directory should be: true for every user, root included."""
    (tmp_path / "file").touch()
    for variables in (
        {"FDEGYM_VAR": str(tmp_path / "file" / "var")},
        {"FDEGYM_VAR": str(tmp_path / "file" / "var"), "FDEGYM_SECRET_KEY": KEY},
        {"FDEGYM_VAR": str(tmp_path / "file"), "FDEGYM_SECRET_KEY": KEY},
    ):
        ended = in_a_process(**variables)
        assert ended.returncode == 78, ended.stderr
        assert ended.stderr.count("\n") == 1
        assert "FDEGYM_VAR" in ended.stderr


def test_a_directory_of_somebody_else_is_said() -> None:
    outer = Path(tempfile.mkdtemp(prefix="fdenv-", dir="/tmp"))
    try:
        outer.chmod(0o755)
        (outer / "var").mkdir(mode=0o700)
        (outer / "var" / "secret-key").touch(mode=0o000)
        ended = in_a_process(FDEGYM_VAR=str(outer / "var"), as_user=NOBODY)
        assert (ended.returncode, ended.stderr.count("\n")) == (78, 1)
        assert "run as the user that made it" in ended.stderr
        ended = in_a_process(FDEGYM_VAR=str(outer / "var"), FDEGYM_SECRET_KEY=KEY, as_user=NOBODY)
        assert (ended.returncode, ended.stderr.count("\n")) == ((78, 1) if NOBODY else (0, 0))
    finally:
        shutil.rmtree(outer)


def test_the_key_is_made_once_by_however_many_processes_and_read_by_one_user_alone(tmp_path: Path) -> None:
    with ThreadPoolExecutor(12) as pool:
        ended = list(pool.map(lambda _: in_a_process(FDEGYM_VAR=str(tmp_path / "var")), range(12)))
    keys = {process.stdout.strip() for process in ended}
    assert [process.stderr for process in ended if process.returncode] == []
    (key,) = keys
    assert len(key) >= env.SHORTEST_KEY
    assert (tmp_path / "var" / "secret-key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "var").glob("secret-key*")] == ["secret-key"]


@pytest.mark.parametrize("kept", ["", "cut off"])
def test_a_kept_key_that_is_broken_is_not_replaced_behind_anybodys_back(tmp_path: Path, kept: str) -> None:
    (tmp_path / "var").mkdir(mode=0o700)
    (tmp_path / "var" / "secret-key").write_text(kept)
    with pytest.raises(env.EnvironmentProblem, match=r"secret-key holds no usable key.*backup"):
        env.read()
    assert (tmp_path / "var" / "secret-key").read_text() == kept


def test_sockets_lie_where_nobody_else_can_reach_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = Path(f"/tmp/fdenv-{os.getpid()}")
    monkeypatch.setenv("FDEGYM_SOCKETS", str(short))
    try:
        assert env.read().sockets == short
        assert short.stat().st_mode & 0o777 == 0o700
        short.chmod(0o755)
        with pytest.raises(env.EnvironmentProblem, match="open to others"):
            env.read()
    finally:
        short.rmdir()
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    with pytest.raises(env.EnvironmentProblem, match="somebody else"):
        env._check_private(_link(tmp_path / "link", target))


def _link(link: Path, target: Path) -> Path:
    link.symlink_to(target)
    return link


@pytest.mark.parametrize(
    ("redis_url", "broker_url"),
    [
        ("redis://host:6379/1", "redis://host:6379/1"),
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock"),
        ("unix:///run/redis.sock?db=2&password=p", "redis+socket:///run/redis.sock?virtual_host=2&password=p"),
        ("", ""),
    ],
)
def test_the_broker_is_the_redis_that_was_named(
    redis_url: str, broker_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)
    assert env.read().broker_url == broker_url


def test_options_of_the_database_url_reach_the_database(tmp_path: Path) -> None:
    """An sslmode that got lost would send everything readable over the network."""
    program = "from fdegym import settings as s; d = s.DATABASES['default']; print(d['OPTIONS'], d['HOST'], d['NAME'])"
    url = "postgres://alice@db/name?sslmode=verify-full"
    ended = in_a_process(program, FDEGYM_VAR=str(tmp_path / "var"), DATABASE_URL=url)
    assert ended.returncode == 0, ended.stderr
    assert "'sslmode': 'verify-full'" in ended.stdout
    assert "'pool'" in ended.stdout
