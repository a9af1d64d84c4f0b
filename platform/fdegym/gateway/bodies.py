"""What was asked and answered, word by word, where the operator wants it kept: a file for each run and grade.

The files are recordings as the ``replay`` provider reads them, one after the other or put together.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LARGEST_FILE = 64 * 1024 * 1024  #: of one run or grade; what comes after is not kept


class Bodies:
    """Blocking; safe to use from several threads. ``directory`` None: nothing is kept."""

    def __init__(self, directory: Path | None) -> None:
        self._directory, self._lock = directory, threading.Lock()

    def keep(self, account: str, request_hash: str, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        if self._directory is None:
            return
        line = json.dumps({"hash": request_hash, "request": request, "answer": answer}).encode() + b"\n"
        with self._lock:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self._directory / f"{account}.jsonl"
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                if os.fstat(file).st_size + len(line) <= LARGEST_FILE:
                    os.write(file, line)
            finally:
                os.close(file)
