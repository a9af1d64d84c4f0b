"""What one client knows by itself: everything it sent, what it was answered, every byte it saw. No file of the product's.

Times are seconds since 1970. A request that got no answer stays an attempt: it may have been carried out or not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Span:
    """Terminal output as it came over connections that each went on where the former had ended."""

    start: int  #: sequence number of its first byte
    data: bytearray = field(default_factory=bytearray)

    @property
    def end(self) -> int:
        return self.start + len(self.data)


@dataclass
class Typed:
    """A line typed for the program in the terminal, which repeats each line that it gets once."""

    token: str
    connection: int
    at: float
    answered: bool = False


@dataclass
class TerminalAccount:
    """One terminal of one run."""

    spans: list[Span] = field(default_factory=list)
    left_out: list[tuple[int, int]] = field(
        default_factory=list
    )  #: (from, to) of what the site said that it leaves out
    typed: list[Typed] = field(default_factory=list)

    @property
    def seen(self) -> int | None:
        """Number of the next byte; None before the first connection."""
        return self.spans[-1].end if self.spans else None

    def joined(self, seq: int) -> None:
        """The site said that the byte of this number follows."""
        if self.seen != seq:
            self.spans.append(Span(seq))

    def got(self, data: bytes) -> None:
        self.spans[-1].data += data


@dataclass
class Sent:
    """A message, or a wait, under the id that the client gave it and kept through every repetition."""

    kind: str  #: ``message`` or ``wait``
    person: str
    text: str
    tries: int = 0
    reply: dict[str, Any] | None = None


@dataclass
class Saved:
    """A state of the one file that the person keeps saving; its content is the number."""

    number: int
    confirmed: bool = False


@dataclass
class RunAccount:
    """One run as its owner knows it."""

    id: str
    terminal: TerminalAccount = field(default_factory=TerminalAccount)
    sent: dict[str, Sent] = field(default_factory=dict)
    feed: list[dict[str, Any]] = field(default_factory=list)
    saves: list[Saved] = field(default_factory=list)
    submit_tries: int = 0
    submit_answers: list[str] = field(default_factory=list)  #: addresses that it led to
    export: dict[str, Any] | None = None  #: what the site gave to take along once the run was graded


@dataclass
class PersonAccount:
    """Somebody with an account and runs, one after the other."""

    name: str
    runs: dict[str, RunAccount] = field(default_factory=dict)
