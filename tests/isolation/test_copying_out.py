"""What is copied out of a hostile sandbox holds its own plain files, and whoever copies is neither led away nor kept."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from tests.isolation.conftest import Arena
from tests.isolation.ground import Ground
from tests.isolation.programs.planting import PLANTINGS, ROOT, Planting
from tests.isolation.sandboxes import ATTACK
from workspaces.runtime.errors import SandboxError, SandboxTooLarge

pytestmark = pytest.mark.sandbox
MAX_BYTES = 64 << 20


@dataclass(frozen=True)
class Member:
    name: str
    plain: bool
    mode: int
    size: int
    content: bytes


@pytest.fixture(scope="module")
def planted_in(arena: Arena) -> Arena:
    argv = ["python", "-m", "tests.isolation.programs.planting", json.dumps(asdict(arena.facts))]
    done = arena.attacker.exec(argv, working_directory=ATTACK)
    assert done.exit_status == 0, done.stderr.decode()
    return arena


@pytest.fixture
def copied(planted_in: Arena, planted: Planting, tmp_path: Path) -> Iterator[list[Member]]:
    """What a copy of one attempt's folder holds, for a submission as for the workspace's next start."""
    found = []
    for faithful in (False, True):
        target = tmp_path / f"copied-{faithful}.tar"
        try:
            planted_in.attacker.snapshot(
                target, paths=[f"{ROOT}/{planted.name}"], max_bytes=MAX_BYTES, faithful=faithful
            )
        except SandboxTooLarge:
            continue
        assert target.stat().st_size < 2 * MAX_BYTES
        with tarfile.open(target) as tar:
            for entry in tar:
                plain = entry.isreg() or entry.isdir() or (faithful and (entry.issym() or entry.islnk()))
                file = tar.extractfile(entry) if entry.isreg() else None
                content = file.read() if file is not None else b""
                found.append(Member(entry.name, plain, entry.mode, entry.size, content))
    yield found
    assert planted_in.ground.touched() == []


@pytest.mark.parametrize("planted", PLANTINGS.values(), ids=list(PLANTINGS))
def test_a_copy_holds_plain_files_of_its_own(copied: list[Member], planted_in: Arena, planted: Planting) -> None:
    for member in copied:
        assert member.plain, member.name
        assert not member.name.startswith("/")
        assert ".." not in member.name.split("/")
        assert not member.mode & 0o7000, member.name
        assert planted_in.ground.secret.encode() not in member.content
        assert b"as given" not in member.content, "of a shown file"
    assert sum(member.size for member in copied) <= 2 * MAX_BYTES


def test_whoever_followed_these_links_on_the_host_would_carry_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a copy without them would show nothing."""
    monkeypatch.chdir(tmp_path)
    with Ground() as ground:
        PLANTINGS["links_to_secrets"].run(ground.facts)
        followed = [path for path in tmp_path.iterdir() if path.resolve().is_relative_to(ground.directory)]
        carried = [
            path.name for path in followed if path.is_file() and ground.secret in path.read_bytes().decode("latin")
        ]
    assert len(carried) >= 5


def test_nobody_reads_writes_or_deletes_through_a_link(planted_in: Arena) -> None:
    """FC-95. What the site does for a person's files is done by their names, and never follows a link."""
    folder, attacker = f"{ROOT}/links_to_what_is_shown", planted_in.attacker
    secrets = f"{ROOT}/links_to_secrets"
    acts: list[Callable[[], object]] = [
        lambda: attacker.read(f"{folder}/file", max_bytes=99),
        lambda: attacker.read(f"{folder}/folder/file", max_bytes=99),
        lambda: attacker.read(f"{secrets}/link-0", max_bytes=99),
        lambda: attacker.read(f"{secrets}/relative-0", max_bytes=99),
        lambda: attacker.put(f"{folder}/file", b"planted"),
        lambda: attacker.put(f"{folder}/folder/file", b"planted"),
        lambda: attacker.put(f"{folder}/elsewhere/file", b"planted"),
        lambda: attacker.delete(f"{folder}/folder/file"),
        lambda: attacker.rename(f"{folder}/folder/file", f"{folder}/taken"),
        lambda: attacker.listing(f"{folder}/folder"),
        lambda: attacker.make_directory(f"{folder}/folder/made"),
    ]
    for act in acts:
        with pytest.raises(SandboxError):
            act()
    assert planted_in.ground.touched() == []


def test_nobody_waits_at_a_pipe_or_a_socket(planted_in: Arena) -> None:
    folder = f"{ROOT}/files_that_never_end"
    for name in ("pipe", "socket", "report.md"):
        with pytest.raises(SandboxError):
            planted_in.attacker.read(f"{folder}/{name}", max_bytes=99)


def test_what_is_restored_from_a_hostile_copy_is_what_it_was(planted_in: Arena) -> None:
    """Links come back as links, beneath its own folders, and lead where they did: inside."""
    planted_in.runtime.stop("attacker")
    attacker = planted_in.runtime.start("attacker")
    kinds = {entry["name"]: entry["kind"] for entry in attacker.listing(f"{ROOT}/links_to_folders")}
    assert set(kinds.values()) == {"link"}
    assert attacker.usage()["processes"] == 0
    assert planted_in.ground.touched() == []
