"""What is learnt from a scenario's phrasings: fitted once for a content, read back bit for bit.

Admission writes it beside the phrasings as ``matcher.npz``, so that no site has to learn what it ships; what was learnt
from other phrasings, or with another encoder, is not read, and learning takes its place.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scenarios.kit.phrasings import Phrasings
from stakeholders.matcher.classifier import Classifier
from stakeholders.matcher.encoder import Centre, Encoder
from stakeholders.matcher.lessons import Lessons, of_messages, of_pairs

SHIPPED = "matcher.npz"
_RECIPE = "4"  #: raised when the way of fitting changes, so that old files are left alone


@dataclass(frozen=True)
class Fitted:
    centre: Centre
    classifier: Classifier

    @classmethod
    def learn(cls, examples: Sequence[tuple[str, str]], encoder: Encoder) -> Fitted:
        """Learn from (message, class) pairs. The same pairs in the same order give the same result.

        Beside the messages themselves it learns from their clauses, as they read within them, and from pairs of them.
        """
        messages, parts = of_messages(examples, encoder)
        centre = Centre.of(messages.encoded)
        taught = Lessons.joined([messages, parts, of_pairs(examples, encoder)])
        learnt = Classifier.fit(centre.features(taught.encoded), taught.labels, taught.weights)
        return cls(Centre(_kept(centre.means)), Classifier(learnt.classes, _kept(learnt.weights)))

    @classmethod
    def cached(
        cls, phrasings: Phrasings, encoder: Encoder, cache_dir: Path | None, shipped: Path | None = None
    ) -> Fitted:
        """What was learnt from the same examples with the same encoder: read from the file ``shipped`` or from
        ``cache_dir``, or learnt now and kept in ``cache_dir``. With neither it is learnt.
        """
        content = content_of(phrasings, encoder)
        places = [shipped] if shipped else []
        if cache_dir is not None:
            places.append(cache_dir / f"matcher-{content}.npz")
        for path in places:
            kept = cls.read(path, content)
            if kept is not None:
                return kept
        learnt = cls.learn(examples_of(phrasings), encoder)
        if cache_dir is not None:
            learnt.write(places[-1], content)
        return learnt

    @classmethod
    def read(cls, path: Path, content: str) -> Fitted | None:
        """``None`` when there is none, when it was learnt from something else, or when it was cut short."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                if bytes(stored["content"].tobytes()).decode() != content:
                    return None
                classes = tuple(json.loads(bytes(stored["classes"].tobytes())))
                means, weights = stored["means"].astype(np.float64), stored["weights"].astype(np.float64)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        return cls(Centre(means), Classifier(classes, weights)) if weights.shape[1:] == (len(classes),) else None

    def write(self, path: Path, content: str) -> None:
        """Keep it at ``path`` as what was learnt from ``content``; whole, or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        names = np.frombuffer(json.dumps(self.classifier.classes).encode(), np.uint8)
        of = np.frombuffer(content.encode(), np.uint8)
        means, weights = self.centre.means.astype(np.float32), self.classifier.weights.astype(np.float32)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, content=of, classes=names, means=means, weights=weights)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)  # whole or not at all: several processes may fit at once
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _kept(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """With the precision that the file has, so that what was just learnt and what was read say the same."""
    return numbers.astype(np.float32).astype(np.float64)


def examples_of(phrasings: Phrasings) -> list[tuple[str, str]]:
    """(message, class) of everything to learn from, in the order of the class names."""
    groups: dict[str, Sequence[str]] = {
        name: [*topic.examples, *topic.examples_zh] for name, topic in phrasings.topics.items()
    }
    groups |= _negatives(phrasings.negatives.examples())
    return [(message, name) for name in sorted(groups) for message in groups[name]]


def _negatives(kinds: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    return {kind: messages for kind, messages in kinds.items() if messages}


def content_of(phrasings: Phrasings, encoder: Encoder) -> str:
    """The hash of everything that decides what is learnt."""
    content = json.dumps([_RECIPE, encoder.fingerprint, *examples_of(phrasings)], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:32]
