"""A six-layer sentence encoder (all-MiniLM-L6-v2, English) in numpy, with weights of eight bits.

It exists so that no inference library is needed to answer a message: the whole forward pass is a dozen matrix
products. All segments of a message go through the dense layers as one stack; only attention looks at each by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from stakeholders.matcher.wordpiece import WordPiece

Floats: TypeAlias = npt.NDArray[np.float32]
Token = TypeVar("Token")

WIDTH = 384
_LAYERS, _HEADS = 6, 12
_HEAD = WIDTH // _HEADS
_EPSILON = np.float32(1e-12)
_HALF, _ROOT_HALF = np.float32(0.5), np.float32(0.5**0.5)


class MiniLM:
    """``encode`` turns texts into unit vectors of 384 numbers. Immutable once loaded: safe to share between threads."""

    def __init__(self, weights: Mapping[str, npt.NDArray[np.generic]]) -> None:
        pieces = bytes(np.asarray(weights["vocabulary"]).tobytes()).decode().split("\n")
        self._tokens = WordPiece({piece: row for row, piece in enumerate(pieces)})
        self._words = np.asarray(weights["words"])
        self._word_scale = np.asarray(weights["words.scale"], dtype=np.float32)
        self._dense = {
            name: np.ascontiguousarray((np.asarray(weights[name]) * weights[f"{name}.scale"]).T.astype(np.float32))
            for name in weights
            if name.endswith(".weight")
        }
        self._plain = {
            name: np.asarray(weights[name], dtype=np.float32)
            for name in weights
            if name.endswith((".bias", ".gain")) or name == "positions"
        }

    @classmethod
    def load(cls, path: Path) -> MiniLM:
        with np.load(path, allow_pickle=False) as stored:
            return cls({name: stored[name] for name in stored.files})

    def encode(self, messages: Sequence[tuple[str, Sequence[str]]], most_tokens: int) -> Floats:
        """For each (text, its clauses) a row for the text, then one for each clause as it reads within it; (rows, 384).

        Each row is of length one. A text goes through the layers once, however many clauses it has; of a longer one the
        beginning and the end are read. A clause of which nothing is read has the whole text's vector.
        """
        tokens: list[list[int]] = []
        rows: list[npt.NDArray[np.int_]] = []
        begin = 0
        for text, clauses in messages:
            owned = [
                (token, place) for place, part in enumerate(clauses or (text,)) for token in self._tokens.encode(part)
            ]
            read = _ends_of(owned, most_tokens - 2)
            tokens.append(self._framed([token for token, _ in read]))
            owners = np.array([-1, *(place for _, place in read), -1])
            every = np.arange(begin, begin + len(owners))
            own = [every[owners == place] for place in range(len(clauses))]
            rows += [every, *(row if len(row) else every for row in own)]
            begin += len(owners)
        return _pooled(self._states(tokens), rows)

    def _framed(self, tokens: Sequence[int]) -> list[int]:
        return [self._tokens.start, *tokens, self._tokens.end]

    def _states(self, tokens: Sequence[Sequence[int]]) -> Floats:
        spans = _spans(tokens)
        states = self._embed(tokens)
        for layer in range(_LAYERS):
            states = self._layer(states, f"layer.{layer}", spans)
        return states

    def _embed(self, tokens: Sequence[Sequence[int]]) -> Floats:
        flat = np.concatenate([np.asarray(part) for part in tokens])
        places = np.concatenate([np.arange(len(part)) for part in tokens])
        words = self._words[flat].astype(np.float32) * self._word_scale[flat]
        return self._normalise(words + self._plain["positions"][places], "embedding")

    def _layer(self, states: Floats, name: str, spans: Sequence[slice]) -> Floats:
        mixed = self._attend(self._through(states, f"{name}.attention"), spans)
        states = self._normalise(states + self._through(mixed, f"{name}.mixed"), f"{name}.first")
        inner = self._through(states, f"{name}.inner")
        return self._normalise(states + self._through(_gelu(inner), f"{name}.outer"), f"{name}.second")

    def _through(self, states: Floats, name: str) -> Floats:
        product: Floats = states @ self._dense[f"{name}.weight"] + self._plain[f"{name}.bias"]
        return product

    def _normalise(self, states: Floats, name: str) -> Floats:
        centred = states - states.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + _EPSILON)
        normal: Floats = centred / spread * self._plain[f"{name}.gain"] + self._plain[f"{name}.bias"]
        return normal

    @staticmethod
    def _attend(projected: Floats, spans: Sequence[slice]) -> Floats:
        """Self-attention of each segment by itself; ``projected`` holds queries, keys and values side by side."""
        mixed = np.empty((len(projected), WIDTH), dtype=np.float32)
        for span in spans:
            length = span.stop - span.start
            query, key, value = projected[span].reshape(length, 3, _HEADS, _HEAD).transpose(1, 2, 0, 3)
            weights = query @ key.transpose(0, 2, 1) / np.float32(_HEAD**0.5)
            weights = np.exp(weights - weights.max(axis=2, keepdims=True))
            weights /= weights.sum(axis=2, keepdims=True)
            mixed[span] = (weights @ value).transpose(1, 0, 2).reshape(length, WIDTH)
        return mixed


def _spans(tokens: Sequence[Sequence[int]]) -> list[slice]:
    ends = np.cumsum([len(part) for part in tokens])
    return [slice(int(end) - len(part), int(end)) for part, end in zip(tokens, ends, strict=True)]


def _ends_of(tokens: Sequence[Token], most: int) -> list[Token]:
    """All of them, or a beginning and a longer end: what a message is about stands there, its question mostly last."""
    if len(tokens) <= most:
        return list(tokens)
    first = most // 3
    return [*tokens[:first], *tokens[len(tokens) - (most - first) :]]


def _pooled(states: Floats, rows: Sequence[npt.NDArray[np.int_]]) -> Floats:
    means = np.stack([states[row].mean(axis=0) for row in rows])
    unit: Floats = means / np.linalg.norm(means, axis=1, keepdims=True)
    return unit


def _gelu(values: Floats) -> Floats:
    """x·Φ(x), Φ by a polynomial that errs by less than 2e-7 (Abramowitz and Stegun 7.1.26). In place where it can be:
    the arrays are larger than the processor's caches, and every one more costs as much as a product."""
    size = np.abs(values)
    size *= _ROOT_HALF
    turn = size * np.float32(0.3275911)
    turn += np.float32(1)
    np.reciprocal(turn, out=turn)
    size *= size
    np.negative(size, out=size)
    np.exp(size, out=size)
    series = turn * np.float32(1.061405429)
    series += np.float32(-1.453152027)
    for term in (1.421413741, -0.284496736, 0.254829592):
        series *= turn
        series += np.float32(term)
    series *= turn
    series *= size
    np.subtract(np.float32(1), series, out=series)
    np.copysign(series, values, out=series)
    series += np.float32(1)
    series *= values
    series *= _HALF
    return series
