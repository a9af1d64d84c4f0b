"""The files that start a deployment are held against the code that they start, and against each other."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands

from fdegym import env
from grading.queue import HEARTBEAT_S
from tests.deployment.composed import (
    COMPOSE,
    INTERPOLATED,
    ROOT,
    UNITS,
    compose,
    environment_of,
    example,
    filled_in,
    ours,
    services,
    unit,
    unit_environment,
)
from tests.deployment.conftest import need

OF_A_UNIT = {"site": "site-a", "worker": "worker", "scheduler": "scheduler", "desk": "desk", "keeper": "keeper"}
OF_A_UNIT |= {"gateway": "gateway"}
#: What only a container, or only a unit, has to be told.
PLACE = {"FDEGYM_BIND", "FDEGYM_PORT", "FDEGYM_PROXIES"}
SECRET = re.compile(
    r"FDEGYM_SECRET_KEY|FDEGYM_OLD_KEYS|DATABASE_URL|REDIS_URL|WORLD_SALT|FDEGYM_GATEWAY_KEY|\w*PASSWORD"
)
DAEMON = "/var/run/docker.sock"


def test_the_file_is_clean_yaml_that_says_nothing_twice() -> None:
    need(shutil.which("yamllint"), "yamllint")
    rules = (
        "{extends: default, rules: {line-length: disable, document-start: disable, braces: disable, comments: disable}}"
    )
    done = subprocess.run(["yamllint", "-s", "-d", rules, str(COMPOSE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_variable_that_is_filled_in_is_in_the_example_and_none_is_there_for_nothing() -> None:
    assert {found[1] for found in INTERPOLATED.finditer(COMPOSE.read_text())} == set(example())


def test_every_variable_that_a_service_of_ours_gets_exists() -> None:
    told = {name for service in ours() for name in environment_of(service)}
    told |= {name for service in OF_A_UNIT for name in unit_environment(f"fdegym-{service}.service")}
    not_ours = {"PYTHONPATH", "DJANGO_SETTINGS_MODULE", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
    assert told - not_ours - {"OPENBLAS_NUM_THREADS"} - set(env.VARIABLES) == set()


def test_no_secret_stands_in_a_file_that_is_shown_around() -> None:
    for service in services():
        inline = [name for name in environment_of(service) if SECRET.fullmatch(name)]
        assert inline == [], f"{service} has them in its environment, where everybody of the daemon's group reads them"
    for path in [*UNITS.iterdir(), ROOT / "ops" / "compose.env.example"]:
        named = re.findall(r"^(?:Environment=.*\b)?([A-Z_]+)=", path.read_text(), re.MULTILINE)
        assert [name for name in named if SECRET.fullmatch(name)] == [], path.name


def test_every_secret_is_declared_and_given_to_whom_reads_it() -> None:
    for name, service in services().items():
        given = {each if isinstance(each, str) else each["source"] for each in service.get("secrets", [])}
        assert given <= set(compose()["secrets"])
        read = {value for key, value in environment_of(name).items() if key.endswith("_FILE")}
        assert read <= {f"/run/secrets/{each}" for each in given}, name
    assert [name for name in services() if "model-key" in services()[name].get("secrets", [])] == ["gateway"]


def test_the_environment_of_each_service_is_one_that_it_starts_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the example's values and secrets as ``new_secrets.py`` makes them."""
    made = subprocess.run([sys.executable, "ops/new_secrets.py", str(tmp_path / "secrets")], cwd=ROOT, check=False)
    assert made.returncode == 0
    for service in set(ours()) - {"keeper"}:
        for name in env.VARIABLES:
            monkeypatch.delenv(name, raising=False)
        for name, value in environment_of(service).items():
            monkeypatch.setenv(name, value.replace("/run/secrets", str(tmp_path / "secrets")))
        monkeypatch.setenv("FDEGYM_VAR", str(tmp_path / "var"))
        found = env.read()
        assert found.database_url.startswith("postgres://fdegym:")
        assert found.redis_url.startswith("redis://:")
        assert found.world_salt
        assert found.secure_cookies
        assert not (tmp_path / "var" / "secret-key").exists(), "it made a key of its own"


def test_secrets_that_are_there_are_not_made_anew_and_agree(tmp_path: Path) -> None:
    command = [sys.executable, "ops/new_secrets.py", str(tmp_path / "secrets")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    before = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    again = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert again.stdout == ""
    assert {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()} == before
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "secrets").iterdir()} == {0o400}
    assert before["database-password"].strip() in before["database-url"]
    assert before["redis-users"].split(">")[1].split()[0] in before["redis-url"]
    files = {value["file"].rsplit("/secrets}/")[1] for value in compose()["secrets"].values()}
    assert set(before) == {name for name in files if not name.startswith("tls/")}


def commands() -> Iterator[tuple[str, list[str]]]:
    for service in ours():
        yield service, [filled_in(part) for part in services()[service]["command"]]
        for check in services()[service].get("healthcheck", {}).get("test", [])[:1]:
            assert check == "CMD"
            yield f"{service}'s health check", services()[service]["healthcheck"]["test"][1:]


@pytest.mark.parametrize(("what", "command"), list(commands()) if Path("/usr/bin/yamllint").exists() else [])
def test_every_command_is_one_that_the_code_has(what: str, command: list[str]) -> None:
    program, *rest = command
    if rest[0] == "-m":
        assert importlib.util.find_spec(rest[1]), what
    elif program == "python":
        assert rest[0] == "manage.py"
        assert rest[1] in get_commands(), what
    else:
        from celery.bin import beat, worker

        assert rest[:2] == ["-A", "fdegym"]
        kind = {"worker": worker.worker, "beat": beat.beat}[rest[2]]
        known = {option for parameter in kind.params for option in parameter.opts}
        assert {part.split("=")[0] for part in rest[3:] if part.startswith("-")} <= known, what


def test_the_keepers_command_says_where_everybody_else_looks() -> None:
    from workspaces.keeper.__main__ import parse_arguments

    settings = parse_arguments(services()["keeper"]["command"][3:])
    var = Path(environment_of("site-a")["FDEGYM_VAR"])
    sockets = env._socket_directory(var)
    assert (settings.state_dir, settings.socket) == (var / "sandboxes", sockets / "keeper.sock")
    asked = {name: services()[name]["healthcheck"]["test"][-1] for name in ("keeper", "desk", "gateway", "site-a")}
    assert asked == {
        "keeper": f"{sockets}/keeper.sock",
        "desk": f"{sockets}/desk/site.sock",
        "gateway": f"{sockets}/gateway/site.sock",
        "site-a": "site",
    }


def test_whoever_must_reach_a_socket_shares_the_place_under_the_same_path() -> None:
    """The host's too: the keeper names these paths to the host's Docker daemon."""
    for name in ours():
        assert "state:/var/lib/fdegym" in services()[name]["volumes"], name
    assert compose()["volumes"]["state"]["driver_opts"]["device"] == "/var/lib/fdegym"
    assert "/opt/fdegym:/opt/fdegym:ro" in services()["keeper"]["volumes"]
    assert "WORKDIR /opt/fdegym\n" in (ROOT / "ops" / "site-image" / "Dockerfile").read_text()


def test_only_the_keeper_has_the_daemon() -> None:
    text = {name: str(service) for name, service in services().items()}
    assert [name for name in text if DAEMON in text[name] or "FDEGYM_DOCKER" in text[name]] == ["keeper"]
    assert {environment_of(name)["FDEGYM_RUNTIME"] for name in ours()} == {"docker"}, "the others ask the keeper"
    assert services()["keeper"]["network_mode"] == "none"


def test_only_the_proxy_is_reached_from_outside_and_only_the_gateway_reaches_out() -> None:
    assert [name for name, service in services().items() if "ports" in service] == ["proxy"]
    inward = {name for name, network in compose()["networks"].items() if network and network.get("internal")}
    assert inward == {"inside", "front"}
    out = [name for name, service in services().items() if set(service.get("networks", [])) - inward]
    assert sorted(out) == ["gateway", "proxy"]


def test_the_proxy_is_believed_and_asks_where_the_sites_are() -> None:
    front = {name: services()[name]["networks"]["front"]["ipv4_address"] for name in ("proxy", "site-a", "site-b")}
    assert environment_of("site-a")["FDEGYM_PROXIES"] == front["proxy"]
    upstream = (ROOT / "ops" / "proxy" / "upstream-compose.conf").read_text()
    assert re.findall(r"server (\S+)", upstream) == [f"{front[name]}:8000" for name in ("site-a", "site-b")]


def test_every_container_is_closed_bounded_and_comes_back() -> None:
    for name, service in services().items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert not service["user"].startswith("0"), name
        assert service["logging"]["options"].keys() == {"max-size", "max-file"}, name
        assert {"mem_limit", "pids_limit"} <= service.keys(), name
        assert service["restart"] == ("no" if name == "prepare" else "unless-stopped"), name
        assert re.fullmatch(r"[a-z-]+:(\$\{FDEGYM_RELEASE:\?[^}]+\}|\d+\.\d+.*)", service["image"]), name
        listens = name not in ("prepare", "worker", "scheduler")
        assert ("healthcheck" in service) is listens, name
    unconfined = [name for name, service in services().items() if "seccomp:unconfined" in service["security_opt"]]
    assert unconfined == ["prepare", "worker"], "those that make sandboxes inside their own container"


def test_whoever_is_stopped_has_time_for_its_drain_and_a_heartbeat() -> None:
    for name in ours():
        grace_s = int(services()[name]["stop_grace_period"].removesuffix("s"))
        drain_s = int(environment_of(name).get("FDEGYM_DRAIN_S", "0"))
        assert grace_s >= drain_s + 2 * HEARTBEAT_S, name
    for name in ("site", "worker"):
        assert int(unit(f"fdegym-{name}.service")["TimeoutStopSec"][0]) >= 20 + 2 * HEARTBEAT_S


def test_the_image_has_what_running_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "ops"))
    import setup as set_up

    text = (ROOT / "ops" / "site-image" / "Dockerfile").read_text()
    installed = re.search(r"--no-install-recommends \\\n\s+(.*?) \\\n", text, re.DOTALL)[1].split()  # type: ignore[index]
    assert {*set_up.RUN_PACKAGES.values(), "postgresql-client"} <= set(installed)
    uid = re.search(r"--uid (\d+)", text)[1]  # type: ignore[index]
    assert {service["user"] for service in ours().values()} == {f"{uid}:{uid}"}


# ---- the same without containers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OF_A_UNIT)
def test_a_unit_starts_what_its_container_starts(name: str) -> None:
    (started,) = unit(f"fdegym-{name}.service")["ExecStart"]
    command = [filled_in(part) for part in services()[OF_A_UNIT[name]]["command"]]
    assert started.split() == [f"/opt/fdegym/.venv/bin/{command[0]}", *command[1:]]


@pytest.mark.parametrize("name", OF_A_UNIT)
def test_a_unit_is_given_the_secrets_that_its_container_is_given(name: str) -> None:
    found = unit(f"fdegym-{name}.service")
    lent = [value.split(":", 1) for value in found.get("LoadCredential", [])]
    assert all(path == f"/etc/fdegym/secrets/{secret}" for secret, path in lent)
    assert sorted(secret for secret, _ in lent) == sorted(services()[OF_A_UNIT[name]].get("secrets", []))
    files = {key: value for key, value in environment_of(OF_A_UNIT[name]).items() if key.endswith("_FILE")}
    of_the_unit = unit_environment(f"fdegym-{name}.service")
    assert {key: value.replace("/run/secrets", "%d") for key, value in files.items()} == {
        key: value for key, value in of_the_unit.items() if key.endswith("_FILE")
    }


def test_units_are_of_one_user_of_one_target_and_closed() -> None:
    wanted = unit("fdegym.target")["Wants"][0].split()
    assert sorted(wanted) == sorted(f"fdegym-{name}.service" for name in OF_A_UNIT)
    for name in [*OF_A_UNIT, "backup"]:
        found = unit(f"fdegym-{name}.service")
        assert found["User"] == ["fdegym"]
        assert found["NoNewPrivileges"] == ["yes"]
        assert found["ProtectSystem"] == ["strict"]
        assert found["CapabilityBoundingSet"] == [""]
        makes_sandboxes = name in ("keeper", "worker")
        assert ("RestrictNamespaces" in found) is not makes_sandboxes, name
    assert unit("fdegym-keeper.service")["KillMode"] == ["process"], "its restart would end everybody's workspace"
    assert unit("fdegym-worker.service")["KillMode"] == ["mixed"], "its children would be told to stop at once"


def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("needs systemd-analyze")
    for path in UNITS.glob("fdegym*"):
        # the interpreter of this checkout: that there is one at the place of a deployment cannot be asked here
        (tmp_path / path.name).write_text(path.read_text().replace("/opt/fdegym", str(ROOT)))
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, tmp_path.iterdir())], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
