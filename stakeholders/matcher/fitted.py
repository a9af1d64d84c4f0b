"""What is learnt from a scenario's phrasings, and its cache: fitted once for a content, read back bit for bit."""

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

from scenarios.kit.phrasings import Phrasings
from stakeholders.matcher.classifier import Classifier
from stakeholders.matcher.encoder import Centre, Encoder
from stakeholders.matcher.lessons import Lessons, of_messages, of_pairs

_RECIPE = "3"  #: raised when the way of fitting changes, so that old caches are left alone


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
        return cls(centre, Classifier.fit(centre.features(taught.encoded), taught.labels, taught.weights))

    @classmethod
    def cached(cls, phrasings: Phrasings, encoder: Encoder, cache_dir: Path | None) -> Fitted:
        """Read from ``cache_dir`` what was learnt from the same examples with the same encoder, or learn and keep it."""
        examples = examples_of(phrasings)
        if cache_dir is None:
            return cls.learn(examples, encoder)
        path = cache_dir / f"matcher-{_content(examples, encoder)}.npz"
        kept = cls._read(path)
        if kept is None:
            kept = cls.learn(examples, encoder)
            kept._write(path)
        return kept

    @classmethod
    def _read(cls, path: Path) -> Fitted | None:
        """``None`` when there is none, or when it was cut short: then it is learnt anew."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                classes = tuple(json.loads(bytes(stored["classes"].tobytes())))
                fitted = cls(Centre(stored["means"]), Classifier(classes, stored["weights"]))
        except (FileNotFoundError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        return fitted if fitted.classifier.weights.shape[1:] == (len(classes),) else None

    def _write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        names = np.frombuffer(json.dumps(self.classifier.classes).encode(), np.uint8)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, classes=names, means=self.centre.means, weights=self.classifier.weights)
            Path(temporary).replace(path)  # whole or not at all: several processes may fit at once
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def examples_of(phrasings: Phrasings) -> list[tuple[str, str]]:
    """(message, class) of everything to learn from, in the order of the class names."""
    groups: dict[str, Sequence[str]] = {
        name: [*topic.examples, *topic.examples_zh] for name, topic in phrasings.topics.items()
    }
    groups |= _negatives(phrasings.negatives.examples())
    return [(message, name) for name in sorted(groups) for message in groups[name]]


def _negatives(kinds: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    return {kind: messages for kind, messages in kinds.items() if messages}


def _content(examples: Sequence[tuple[str, str]], encoder: Encoder) -> str:
    content = json.dumps([_RECIPE, encoder.fingerprint, *examples], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:32]
