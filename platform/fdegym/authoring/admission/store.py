"""What was played and found, kept by key: written whole at once, so that an interrupted admission goes on where it was."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fdegym.authoring.admission.work import Item

KEPT_DAYS = 60


class Store:
    """Results below a directory, one file each. What nobody asked for in 60 days is removed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._kept = root / "kept"
        self._kept.mkdir(parents=True, exist_ok=True)

    def find(self, item: Item) -> dict[str, Any] | None:
        """The result kept under an item's key; None where there is none that can be read."""
        path = self._kept / f"{item.key}.json"
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["result"]
            with contextlib.suppress(OSError):
                os.utime(path)
            return result
        return None

    def keep(self, item: Item, result: Mapping[str, Any], seconds: float) -> None:
        """Keep a result, safe from a power cut when this returns."""
        row = {**item.as_json(), "seconds": round(seconds, 1), "result": result}
        temporary = self._kept / f".{item.key}.{os.getpid()}"
        with temporary.open("w", encoding="utf-8") as stream:
            json.dump(row, stream, ensure_ascii=False)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(self._kept / f"{item.key}.json")

    def durations(self) -> dict[str, float]:
        """Label → seconds that a piece of work took last time, however it was decided then."""
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            return {str(label): float(taken) for label, taken in json.loads(self._durations.read_text()).items()}
        return {}

    def note_durations(self, taken: Mapping[str, float]) -> None:
        rounded = {label: round(seconds, 1) for label, seconds in {**self.durations(), **taken}.items()}
        self._durations.write_text(json.dumps(rounded, indent=0, sort_keys=True))

    @property
    def _durations(self) -> Path:
        return self._root / "durations.json"

    def forget_unasked(self) -> None:
        oldest = time.time() - KEPT_DAYS * 86400
        for path in _entries(self._kept):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


def _entries(folder: Path) -> Iterable[Path]:
    with contextlib.suppress(OSError):
        yield from folder.iterdir()
