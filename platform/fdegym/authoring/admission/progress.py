"""How far an admission is, on standard error: one line that is rewritten in a terminal, a line for each piece in a pipe."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Progress:
    """Counts pieces of work, weighted by how long each was expected to take."""

    def __init__(
        self, count: int, weight: float, stream: TextIO = sys.stderr, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._count, self._weight = count, weight
        self._done, self._done_weight = 0, 0.0
        self._stream, self._clock = stream, clock
        self._begun = clock()
        self._in_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"

    def begin(self) -> None:
        """The work begins now: what went before does not count for how long the rest takes."""
        self._begun = self._clock()

    def note(self, text: str) -> None:
        """Say what is going on; counts nothing."""
        self._show(f"… {text}", lasting=False)

    def done(self, label: str, weight: float, *, seconds: float, failed: str = "") -> None:
        """One piece is over. What failed stays on the screen."""
        self._done += 1
        self._done_weight += weight
        elapsed = self._clock() - self._begun
        rest = elapsed * max(0.0, self._weight - self._done_weight) / max(self._done_weight, 1e-9)
        width = len(str(self._count))
        counted = f"[{self._done:>{width}}/{self._count}] {label}, {seconds:.0f} s"
        times = f"elapsed {_span(elapsed)}, about {_span(rest)} left"
        said = f"{counted}: {failed.splitlines()[0]}" if failed else counted
        self._show(f"{said} · {times}", lasting=bool(failed))

    def close(self) -> None:
        """End the line that was being rewritten."""
        if self._in_terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _show(self, text: str, *, lasting: bool) -> None:
        if self._in_terminal:
            room = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[K{text if lasting else text[:room]}{chr(10) if lasting else ''}")
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()
