"""One question for all who ask the same again and again: hundreds of sockets that each look every few seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")


class Together(Generic[Key, Answer]):
    """``ask`` gives the answers of many keys at once, for each of them one; what it raises goes to who was asking.

    An answer is at most ``fresh_s`` seconds old. With it, those of all keys are renewed that were asked for within
    ``kept_s`` seconds. Safe for threads: while one asks the others wait, and find their answers there.
    """

    def __init__(
        self, ask: Callable[[Collection[Key]], Mapping[Key, Answer]], *, fresh_s: float = 1.0, kept_s: float = 10.0
    ) -> None:
        self._ask = ask
        self._fresh_s = fresh_s
        self._kept_s = kept_s
        self._guard = threading.Lock()
        self._asked: dict[Key, float] = {}
        self._answers: dict[Key, Answer] = {}
        self._renewed_at = float("-inf")

    def __call__(self, key: Key) -> Answer:
        with self._guard:
            now = time.monotonic()
            self._asked[key] = now
            if now - self._renewed_at >= self._fresh_s:
                self._asked = {each: at for each, at in self._asked.items() if now - at <= self._kept_s}
                self._answers = dict(self._ask(list(self._asked)))
                self._renewed_at = now
            elif key not in self._answers:
                self._answers[key] = self._ask([key])[key]
            return self._answers[key]
