"""Who may slow a terminal, and what a viewer gets next. Pure bookkeeping: no sockets, no clock of its own.

The controlling viewer, the owner's tab that was used last, holds the terminal back when it falls behind. Everybody else
is skipped to the current screen. With nobody in control the terminal runs at full speed for a while, then slowly.
"""

from __future__ import annotations

from dataclasses import dataclass

WINDOW_BYTES = 512 << 10  #: how far the controlling viewer may be behind before the terminal is held back …
RESUME_BYTES = 128 << 10  #: … and how close it must come again
LAG_MAX_BYTES = 1 << 20  #: how far another viewer may be behind before it is skipped
SCREEN_BYTES = 64 << 10  #: what a skipped viewer gets: enough for any screen
FRESH_BYTES = 256 << 10  #: what a viewer without a past gets
CATCH_UP_BYTES = 16 << 20  #: a viewer that missed more gets a gap and the current screen
UNATTENDED_BYTES = 8 << 20
UNATTENDED_BYTES_PER_S = 256 << 10


@dataclass(eq=False)
class Viewer:
    """One attached client. ``sent`` is the sequence number of the next byte it gets."""

    owner: bool
    sent: int
    acked: int | None = None  #: ``None`` until the client acknowledges anything: then its socket paces it
    size: tuple[int, int] | None = None
    last_active: int = 0  #: order of activity, not time
    reset_at: int | None = None  #: where a new shell begins that it has not been told of yet

    def behind(self, end: int) -> int:
        """Bytes it has not seen: unacknowledged ones if it acknowledges, else those not yet in its socket."""
        return end - (self.sent if self.acked is None else self.acked)

    def allowance(self) -> int:
        """How many bytes may be sent now."""
        return WINDOW_BYTES if self.acked is None else max(0, self.acked + WINDOW_BYTES - self.sent)

    def acknowledge(self, seq: int, end: int) -> None:
        """Believe an acknowledgement only within what was sent, and never backwards."""
        if seq <= min(self.sent, end):
            self.acked = max(self.acked or 0, seq)


class Audience:
    """The viewers of one terminal."""

    def __init__(self) -> None:
        self.viewers: list[Viewer] = []
        self.controlling: Viewer | None = None  #: the owner's tab used last
        self._clock = 0
        self._held = False
        self.unattended = 0  #: bytes printed since nobody was in control

    def join(self, viewer: Viewer) -> None:
        self.viewers.append(viewer)
        if viewer.owner:
            self.active(viewer)

    def leave(self, viewer: Viewer) -> None:
        if viewer in self.viewers:
            self.viewers.remove(viewer)
        owners = [each for each in self.viewers if each.owner]
        self.controlling = max(owners, key=lambda each: each.last_active, default=None)

    def active(self, viewer: Viewer) -> bool:
        """Note that an owner used the terminal; ``True`` if control moved to it."""
        moved = self.controlling is not viewer
        self.controlling = viewer
        self._clock += 1
        viewer.last_active = self._clock
        self.unattended = 0
        return moved

    def size(self) -> tuple[int, int] | None:
        """The size that the terminal should have: that of the owner's tab used last that told one."""
        owners = sorted((v for v in self.viewers if v.owner and v.size), key=lambda viewer: viewer.last_active)
        return owners[-1].size if owners else None

    def printed(self, count: int) -> float:
        """Note output; return how many seconds reading should rest: 0 while anybody is in control or little was read."""
        if self.controlling is not None:
            self.unattended = 0
            return 0.0
        self.unattended += count
        return count / UNATTENDED_BYTES_PER_S if self.unattended > UNATTENDED_BYTES else 0.0

    def held(self, end: int) -> bool:
        """Whether the terminal must wait for its controlling viewer."""
        viewer = self.controlling
        behind = viewer.behind(end) if viewer else 0
        self._held = behind > (RESUME_BYTES if self._held else WINDOW_BYTES)
        return self._held

    def must_skip(self, viewer: Viewer, end: int) -> bool:
        """Whether a viewer fell so far behind that it is skipped to the current screen."""
        return viewer is not self.controlling and viewer.behind(end) > LAG_MAX_BYTES


def begin_at(after: int | None, end: int) -> tuple[int, int]:
    """Where a joining viewer stands and where its bytes begin: (sequence number it has, first it gets).

    ``after`` is what it has received already, ``None`` for nothing. The two differ where something is left out: a gap.
    """
    fresh = max(0, end - FRESH_BYTES)
    if after is None or after > end:
        return fresh, fresh
    return after, after if end - after <= CATCH_UP_BYTES else fresh
