"""A softmax classifier over all topics of a scenario and the kinds of messages that belong to none.

It is fitted from the example phrasings when a scenario is first used: the objective is strictly convex, so the same
examples give the same classifier, whatever the order of summation does to the last bits on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Matrix: TypeAlias = npt.NDArray[np.float64]
Objective: TypeAlias = Callable[[Matrix], tuple[float, Matrix]]

LOOSENESS = 3.0  #: inverse of the penalty on weights; cross-validated
_STEPS, _MEMORY, _TOLERANCE = 200, 10, 1e-7


@dataclass(frozen=True)
class Classifier:
    """``classes`` by name; ``weights`` (features + 1, classes), the last row being each class's offset."""

    classes: tuple[str, ...]
    weights: Matrix

    @classmethod
    def fit(cls, features: Matrix, labels: Sequence[tuple[str, ...]], weights: Matrix) -> Classifier:
        """Learn from (examples, features), the classes that each example belongs to in equal parts, and its weight."""
        classes = tuple(sorted({name for names in labels for name in names}))
        columns = {name: column for column, name in enumerate(classes)}
        wanted = np.zeros((len(labels), len(classes)))
        for row, names in enumerate(labels):
            for name in names:
                wanted[row, columns[name]] += 1.0 / len(names)
        rows = np.ones((len(features), features.shape[1] + 1))
        rows[:, :-1] = features
        del features  # as large again
        penalty = np.full((rows.shape[1], 1), 1.0 / LOOSENESS)
        penalty[-1] = 1e-3  # offsets are hardly held: classes differ in size

        def objective(flat: Matrix) -> tuple[float, Matrix]:
            found = flat.reshape(rows.shape[1], len(classes))
            logs = _log_softmax(rows @ found)
            loss = -float((weights[:, None] * wanted * logs).sum()) + 0.5 * float((penalty * found * found).sum())
            slope = rows.T @ (weights[:, None] * (np.exp(logs) - wanted)) + penalty * found
            return loss, slope.ravel()

        found = _minimise(objective, np.zeros(rows.shape[1] * len(classes)))
        return cls(classes, found.reshape(rows.shape[1], len(classes)))

    def shares(self, features: Matrix) -> Matrix:
        """(texts, classes), each row summing to one."""
        shares: Matrix = np.exp(_log_softmax(features @ self.weights[:-1] + self.weights[-1]))
        return shares


def _log_softmax(values: Matrix) -> Matrix:
    shifted = values - values.max(axis=1, keepdims=True)
    logs: Matrix = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return logs


def _minimise(objective: Objective, start: Matrix) -> Matrix:
    """Limited-memory BFGS with halving steps, for a smooth convex objective."""
    point, (value, slope) = start, objective(start)
    moves: list[tuple[Matrix, Matrix]] = []
    for _ in range(_STEPS):
        direction = -_curved(slope, moves)
        length = 1.0 if moves else min(1.0, 1.0 / float(np.abs(slope).sum()))
        descent = float(slope @ direction)
        while True:
            reached = point + length * direction
            new_value, new_slope = objective(reached)
            if new_value <= value + 1e-4 * length * descent or length < 1e-9:
                break
            length /= 2
        move, bend = reached - point, new_slope - slope
        if float(move @ bend) > 1e-12:
            moves = [*moves, (move, bend)][-_MEMORY:]
        settled = abs(value - new_value) <= _TOLERANCE * max(1.0, abs(value))
        point, value, slope = reached, new_value, new_slope
        if settled:
            break
    return point


def _curved(slope: Matrix, moves: Sequence[tuple[Matrix, Matrix]]) -> Matrix:
    """The slope, corrected by what the latest moves showed of the curvature (two-loop recursion)."""
    corrected = slope.copy()
    taken: list[float] = []
    for move, bend in reversed(moves):
        share = float(move @ corrected) / float(move @ bend)
        taken.append(share)
        corrected -= share * bend
    if moves:
        move, bend = moves[-1]
        corrected *= float(move @ bend) / float(bend @ bend)
    for (move, bend), share in zip(moves, reversed(taken), strict=True):
        corrected += (share - float(bend @ corrected) / float(move @ bend)) * move
    return corrected
