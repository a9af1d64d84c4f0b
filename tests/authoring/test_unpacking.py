"""Archives that anybody may have made: plain files come out of them below one place, or nothing does."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fdegym.authoring import unpacking
from fdegym.authoring.unpacking import ArchiveRefused, unpack

Maker = Callable[..., Path]


@pytest.fixture
def into(tmp_path: Path) -> Path:
    place = tmp_path / "deep" / "into"
    place.mkdir(parents=True)
    return place


@pytest.fixture
def tar(tmp_path: Path) -> Maker:
    """A .tar.gz of these entries: a name with its bytes, or a whole header with them."""

    def make(*entries: tuple[str | tarfile.TarInfo, bytes]) -> Path:
        path = tmp_path / "sent.tar.gz"
        with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
            for entry, data in entries:
                header = tarfile.TarInfo(entry) if isinstance(entry, str) else entry
                if header.isreg():
                    header.size = len(data)
                archive.addfile(header, io.BytesIO(data))
        return path

    return make


@pytest.fixture
def packed(tmp_path: Path) -> Maker:
    """A .zip of these entries."""

    def make(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
        path = tmp_path / "sent.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for entry, data in entries:
                archive.writestr(entry, data)
        return path

    return make


def files(place: Path) -> dict[str, bytes]:
    return {
        path.relative_to(place).as_posix(): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()
    }


def special(name: str, kind: bytes, **fields: object) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.type = kind
    for field, value in fields.items():
        setattr(header, field, value)
    return header


def mode(name: str, bits: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = bits << 16
    return info


@pytest.mark.parametrize("kind", ["tar", "packed"])
def test_what_lies_in_an_archive_comes_out(kind: str, request: pytest.FixtureRequest, into: Path) -> None:
    made = request.getfixturevalue(kind)(("./a/x.toml", b"one"), ("a/b/y.md", b""), ("a/\u4e2d\u6587.md", b"two"))
    unpack(made, into)
    assert files(into) == {"a/x.toml": b"one", "a/b/y.md": b"", "a/\u4e2d\u6587.md": b"two"}


@pytest.mark.parametrize("kind", ["tar", "packed"])
def test_what_machines_and_another_admission_left_stays_out(
    kind: str, request: pytest.FixtureRequest, into: Path
) -> None:
    names = ["a/anchors.json", "a/matcher.npz", "a/__pycache__/world.cpython-311.pyc", "a/world.pyc", "a/.DS_Store"]
    left = [(name, b"x") for name in [*names, "a/._world.py", "__MACOSX/a/._world.py"]]
    unpack(request.getfixturevalue(kind)(*left, ("a/world.py", b"y")), into)
    assert files(into) == {"a/world.py": b"y"}


def test_everybody_may_read_it_and_nobody_may_run_it(tar: Maker, into: Path) -> None:
    header = tarfile.TarInfo("a/x.py")
    header.mode = 0o4777
    before = os.umask(0o077)
    try:
        unpack(tar((header, b"x")), into)
    finally:
        os.umask(before)
    assert stat.S_IMODE((into / "a" / "x.py").stat().st_mode) == 0o644
    assert stat.S_IMODE((into / "a").stat().st_mode) == 0o755


HOSTILE_NAMES = [
    ("../x", "leads out"),
    ("a/../../x", "leads out"),
    ("a/..", "leads out"),
    ("/etc/x", "absolute"),
    ("a\\..\\x", "another system"),
    ("C:x", "another system"),
    ("a/\x1b[2Jx", "cannot be seen"),
    ("a/x\u202e", "cannot be seen"),
    ("a/x ", "cannot be seen"),
    ("/".join("a" * 30), "too long"),
    ("a/" + "x" * 200, "too long"),
]


@pytest.mark.parametrize("kind", ["tar", "packed"])
@pytest.mark.parametrize(("name", "why"), HOSTILE_NAMES, ids=lambda value: ascii(value)[:20])
def test_a_name_that_leads_elsewhere_or_cannot_be_read_is_refused(
    kind: str, name: str, why: str, request: pytest.FixtureRequest, into: Path
) -> None:
    with pytest.raises(ArchiveRefused, match=why) as refused:
        unpack(request.getfixturevalue(kind)((name, b"x")), into)
    assert str(refused.value).isascii()
    assert str(refused.value).isprintable()
    assert not [path for path in into.parent.parent.rglob("*") if path.name in ("x", "etc")]


@pytest.mark.parametrize("kind", ["tar", "packed"])
@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("a/x", "a/x"), "twice"),
        (("a/x", "a/X"), "capitals"),
        (("a/x", "A/y"), "capitals"),
        (("a/\u00e9", "a/e\u0301"), "accents"),
        (("a/x", "a/x/y"), "twice"),
        (("a/x/y", "a/x"), "twice"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_names_of_one_file_are_refused(
    kind: str, names: tuple[str, ...], why: str, request: pytest.FixtureRequest, into: Path
) -> None:
    with pytest.raises(ArchiveRefused, match=why):
        unpack(request.getfixturevalue(kind)(*((name, b"x") for name in names)), into)


@pytest.mark.parametrize(
    "header",
    [
        special("a/x", tarfile.SYMTYPE, linkname="/etc/passwd"),
        special("a", tarfile.SYMTYPE, linkname=".."),
        special("a/x", tarfile.LNKTYPE, linkname="a/y"),
        special("a/x", tarfile.FIFOTYPE),
        special("a/x", tarfile.CHRTYPE, devmajor=1, devminor=3),
        special("a/x", tarfile.BLKTYPE, devmajor=8, devminor=0),
        special("a/x", tarfile.GNUTYPE_SPARSE),
    ],
    ids=["link", "link of the folder", "second name", "pipe", "device", "disk", "holes"],
)
def test_a_tar_with_anything_but_files_is_refused(header: tarfile.TarInfo, tar: Maker, into: Path) -> None:
    with pytest.raises(ArchiveRefused):
        unpack(tar((header, b"")), into)
    assert files(into) == {}


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK], ids=oct)
def test_a_zip_with_anything_but_files_is_refused(kind: int, packed: Maker, into: Path) -> None:
    with pytest.raises(ArchiveRefused, match=r"link|only plain files"):
        unpack(packed((mode("a/x", kind | 0o644), b"/etc/passwd")), into)
    assert files(into) == {}


@pytest.mark.parametrize("kind", ["tar", "packed"])
@pytest.mark.parametrize(
    ("limit", "value", "why"),
    [
        ("LARGEST_FILE", 1000, "a file has at most"),
        ("MOST_BYTES", 3500, "all together"),
        ("MOST_ENTRIES", 2, "entries"),
        ("LARGEST_ARCHIVE", 10, "it has more than"),
    ],
)
def test_more_than_any_scenario_has_is_refused(
    kind: str,
    limit: str,
    value: int,
    why: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    into: Path,
) -> None:
    made = request.getfixturevalue(kind)(*((f"a/{n}", bytes(1200)) for n in range(3)))
    unpack(made, into)
    monkeypatch.setattr(unpacking, limit, value)
    again = into.parent / "again"
    again.mkdir()
    with pytest.raises(ArchiveRefused, match=why):
        unpack(made, again)


def test_a_bomb_is_given_up_long_before_it_is_unfolded(tmp_path: Path, into: Path) -> None:
    """Zeroes behind the last entry: no entry has a size that would tell."""
    path = tmp_path / "bomb.tar.gz"
    zeroes = bytes(1 << 20)
    with gzip.open(path, "wb", compresslevel=1) as archive:
        header = tarfile.TarInfo("a/x")
        archive.write(header.tobuf(tarfile.PAX_FORMAT))
        pax = special("a/p", tarfile.XHDTYPE)
        pax.size = 8 << 30
        archive.write(pax.tobuf(tarfile.GNU_FORMAT))
        for _ in range((unpacking.MOST_BYTES >> 20) + 40):
            archive.write(zeroes)
    assert path.stat().st_size < unpacking.LARGEST_ARCHIVE
    with pytest.raises(ArchiveRefused, match="unfolds to more"):
        unpack(path, into)


def test_a_size_that_lies_is_refused(tmp_path: Path, into: Path) -> None:
    path = tmp_path / "lies.tar.gz"
    header = bytearray(tarfile.TarInfo("a/x").tobuf(tarfile.GNU_FORMAT))
    for size in (b"\xff" * 12, b"77777777777\0"):
        header[124:136] = size
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        path.write_bytes(gzip.compress(bytes(header) + bytes(2048)))
        with pytest.raises(ArchiveRefused):
            unpack(path, into)


def broken(path: Path) -> list[bytes]:
    whole = path.read_bytes()
    middle = len(whole) // 2
    return [
        b"",
        b"hello",
        whole[:middle],
        whole[: middle // 2] + bytes(60) + whole[middle:],
        b"\x1f\x8b",
        b"PK\x03\x04",
    ]


@pytest.mark.parametrize("kind", ["tar", "packed"])
def test_a_damaged_archive_is_refused_in_words(kind: str, request: pytest.FixtureRequest, into: Path) -> None:
    made = request.getfixturevalue(kind)(*((f"a/{n}", os.urandom(5000)) for n in range(4)))
    for number, data in enumerate(broken(made)):
        made.write_bytes(data)
        place = into / str(number)
        place.mkdir()
        with pytest.raises(ArchiveRefused, match=r"damaged|neither|ends before"):
            unpack(made, place)


@pytest.mark.parametrize("kind", ["tar", "packed"])
def test_of_an_archive_with_any_byte_wrong_no_wrong_file_is_taken(
    kind: str, request: pytest.FixtureRequest, into: Path
) -> None:
    """Of a .tar.gz all or nothing; a .zip has no checksum over its list, so one of its files may be out of the list."""
    content = {f"a/{n}": hashlib.sha256(b"%d" % n).digest() * 40 + os.urandom(300) for n in range(4)}
    made: Path = request.getfixturevalue(kind)(*content.items())
    whole = made.read_bytes()
    for at in range(0, len(whole), 7):
        made.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        place = into / str(at)
        place.mkdir()
        try:
            unpack(made, place)
        except ArchiveRefused:
            continue
        came, packed = set(files(place).values()), set(content.values())
        assert came == packed if kind == "tar" else came <= packed, at


@pytest.mark.parametrize("wrong", range(4))
def test_a_header_that_cannot_be_read_is_not_taken_for_the_end(wrong: int, tar: Maker, into: Path) -> None:
    made = tar(*((f"a/{n}", bytes([65 + n]) * 1000) for n in range(4)))
    plain = bytearray(gzip.decompress(made.read_bytes()))
    header = plain.index(b"a/%d\0" % wrong)
    plain[header + 148 : header + 156] = b"!" * 8
    made.write_bytes(gzip.compress(bytes(plain)))
    with pytest.raises(ArchiveRefused, match="damaged"):
        unpack(made, into)


def test_an_encrypted_entry_is_refused(packed: Maker, into: Path) -> None:
    made = packed(("a/x", b"x"))
    data = bytearray(made.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    data[6] |= 1
    made.write_bytes(bytes(data))
    with pytest.raises(ArchiveRefused, match="encrypted"):
        unpack(made, into)


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, into: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "missing"):
        with pytest.raises(ArchiveRefused):
            unpack(path, into)
