"""To have what is copied out of a sandbox carry more than it holds, or stall or fill whoever copies it.

python -m tests.isolation.programs.planting FACTS: plants everything below ``ROOT``, a folder for each attempt.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass

from tests.isolation.programs.attempt import Facts

ROOT = "/workspace/system"


@dataclass(frozen=True)
class Planting:
    """``run`` plants in the current directory."""

    name: str
    tries: str
    run: Callable[[Facts], None]


PLANTINGS: dict[str, Planting] = {}


def planting(run: Callable[[Facts], None]) -> Callable[[Facts], None]:
    PLANTINGS[run.__name__] = Planting(run.__name__, (run.__doc__ or "").partition("\n")[0], run)
    return run


@planting
def links_to_secrets(facts: Facts) -> None:
    """Links to files of the host, which whoever follows them from outside would copy in."""
    targets = [*facts.secrets.values(), "/etc/shadow", "/proc/1/environ", "/proc/self/environ", "/dev/sda", "/dev/zero"]
    for number, target in enumerate(targets):
        os.symlink(target, f"link-{number}")
        os.symlink("../" * 12 + target.lstrip("/"), f"relative-{number}")


@planting
def links_to_folders(facts: Facts) -> None:
    """Links to whole folders, to themselves and to each other."""
    for name, target in (("root", "/"), ("proc", "/proc/1/root"), ("up", ".."), ("itself", "itself"), ("here", ".")):
        os.symlink(target, name)
    os.symlink("b", "a")
    os.symlink("a", "b")


@planting
def links_to_what_is_shown(facts: Facts) -> None:
    """Links to a shown file and its folder, through which the site would write where the sandbox may not."""
    os.symlink(f"{facts.shown}/file", "file")
    os.symlink(facts.shown, "folder")
    os.symlink("/workspace/deliverables", "elsewhere")


@planting
def files_that_never_end(facts: Facts) -> None:
    """Pipes and sockets, at which a reader waits for ever."""
    os.mkfifo("pipe")
    socket.socket(socket.AF_UNIX).bind("socket")
    os.mkfifo("report.md")


@planting
def names_that_lead_elsewhere(facts: Facts) -> None:
    """Names that mean something to a shell, a terminal, an archive or a page."""
    names = [
        b"-rf",
        b"--checkpoint-action=exec=sh",
        b"line\nbreak",
        b"\xff\xfe",
        b"..\\..\\up",
        b"a" * 255,
        b"C:\\x",
        b"\x1b]0;x\x07",
    ]
    for name in [*names, b"<img src=x onerror=alert(1)>", b"= cmd", b"..."]:
        open(name, "w").close()


@planting
def one_file_under_many_names(facts: Facts) -> None:
    """A file of two megabytes under a hundred names, which would be two hundred megabytes outside."""
    with open("one", "wb") as file:
        file.write(os.urandom(2 << 20))
    for number in range(100):
        os.link("one", f"name-{number}")


@planting
def a_file_of_holes(facts: Facts) -> None:
    """A file as large as it may be that holds nothing."""
    with open("holes", "wb") as file:
        file.truncate(60 << 20)


@planting
def marks_that_give_rights(facts: Facts) -> None:
    """Files that change the user who runs them, and folders that nobody may enter."""
    for name, mode in (("setuid", 0o6755), ("sticky", 0o1777), ("closed", 0o000)):
        open(name, "w").close()
        os.chmod(name, mode)
    os.mkdir("shut", 0o000)


@planting
def a_folder_that_becomes_a_link(facts: Facts) -> None:
    """A process goes on exchanging a folder for a link to the host's while others copy."""
    os.mkdir("folder")
    open("folder/file", "w").close()
    os.symlink(os.path.dirname(facts.secrets["plain"]), "link")
    if os.fork() == 0:
        os.setsid()
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        while True:
            for old, new in (("folder", "away"), ("link", "folder"), ("folder", "link"), ("away", "folder")):
                os.rename(old, new)


def main(facts: str) -> None:
    for each in PLANTINGS.values():
        os.makedirs(f"{ROOT}/{each.name}")
        os.chdir(f"{ROOT}/{each.name}")
        each.run(Facts(**json.loads(facts)))


if __name__ == "__main__":
    main(*sys.argv[1:])
