"""A worker that was told to stop: what it has begun may be finished for a while, nothing new is begun.

The process that is told and its children, which do the work, share one number: when the time is over. It is made before
the children are.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
import time
from types import FrameType

_over_at = mmap.mmap(-1, 8)  # by the clock that all processes of a machine share; 0: nobody was told
LEAVE = signal.SIGUSR2


def begin(within_s: float) -> None:
    """From now on nothing new is begun, and in so many seconds what is not finished is handed back."""
    struct.pack_into("d", _over_at, 0, time.monotonic() + within_s)


def has_begun() -> bool:
    return _read() > 0


def is_over() -> bool:
    """Whether what is still being done has to be handed back now."""
    return 0 < _read() <= time.monotonic()


def _read() -> float:
    over_at: float = struct.unpack_from("d", _over_at)[0]
    return over_at


def leave_when_asked() -> None:
    """Let ``leave`` end this process in order, by an exit of its main thread: what it holds is cleared away."""
    signal.signal(LEAVE, _exit)


def _exit(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def leave() -> None:
    """End this process in order, from any of its threads; nothing where ``leave_when_asked`` was not called."""
    if signal.getsignal(LEAVE) is _exit:
        os.kill(os.getpid(), LEAVE)
