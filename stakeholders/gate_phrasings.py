"""Do gates open for those who point at what is asked for, and stay shut for others? Counted on test phrasings.

Given the topic, a gate's messages (``gate_met`` and ``gate_unmet`` of ``phrasings.toml``) are read as the engine reads
them. Identifiers differ from world to world, so the messages hold placeholders for them (``Phrasings``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from scenarios.kit.format import RecordKind
from scenarios.kit.gates import Gate
from scenarios.kit.phrasings import PLACEHOLDER, Phrasings
from stakeholders.gates import GateContext, Heard, evaluate
from stakeholders.matcher.figures import Figures, Miss
from stakeholders.script import Script
from stakeholders.terms import SpokenText


def measure_gates(figures: Figures, phrasings: Phrasings, records: Records, script: Script) -> None:
    """Count into ``figures`` which gates of the script's task opened and stayed shut as they should."""
    for name, _, topic in script.topics():
        if topic.gate is None or name not in phrasings.topics:
            continue
        told = phrasings.topics[name]
        for wanted, messages in ((True, told.gate_met), (False, told.gate_unmet)):
            for place, message in enumerate(messages):
                written = records.filled_in(message, topic.gate, script.gates, place)
                heard = Heard(script.reader.read(written), (SpokenText.of(written),))
                found = evaluate(topic.gate, [heard], script.gates)
                figures.gates.count(found.met == wanted)
                if found.met != wanted:
                    got = "gate met" if found.met else f"gate unmet: {', '.join(found.unmet)}"
                    figures.misses.append(
                        Miss(name.split("/")[0], written, f"{name}, gate {'met' if wanted else 'unmet'}", got, "")
                    )


class Records:
    """What a task's visible data holds, to be put for placeholders."""

    def __init__(self, kinds: Mapping[str, RecordKind], records: Mapping[str, list[str]]) -> None:
        self._kinds, self._records = kinds, {kind: sorted(found) for kind, found in records.items()}

    def filled_in(self, message: str, gate: Gate, context: GateContext, turn: int) -> str:
        """The message with a record for every placeholder, of the group that the gate wants if it wants one.

        ``turn`` picks the record: other messages cite other ones.
        """

        def put(found: re.Match[str]) -> str:
            kind, name, form = found["kind"], found["field"], found["form"]
            accepted = self._accepted(kind, gate, context)
            record = accepted[turn * 7919 % len(accepted)]  # spread over the data, the same every time
            value = record if name is None else self._field(kind, record, name)
            return date.fromisoformat(value).strftime(form) if form else value

        return PLACEHOLDER.sub(put, message)

    def _accepted(self, kind: str, gate: Gate, context: GateContext) -> list[str]:
        for leaf in gate.leaves():
            wanted = leaf.cites_record
            if wanted is not None and kind in wanted.kinds and wanted.among is not None:
                return sorted(context.record_groups[wanted.among][kind])
        return self._records[kind]

    def _field(self, kind: str, record: str, name: str) -> str:
        fields = self._kinds[kind].fields
        if self._kinds[kind].pattern is None:
            return record.split("|")[list(fields).index(name)]
        found = re.search(fields[name], record)
        assert found is not None  # noqa: S101 - lint checks that a placeholder names a field of its kind
        return found[0]
