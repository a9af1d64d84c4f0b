"""How messages are understood, told by a process of its own: ``python -P heard.py``, without Django, settings or cache.

Reads ``{"phrasings": path, "topics": [[person/topic, person, subject]], "messages": [[person, text]]}``, writes a list with
what each message was taken for: ``{"topics": [[topic, text of its part]], "rejected", "small_talk", "scores"}``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stakeholders.matcher import Match


def told(match: Match) -> dict[str, Any]:
    """A match as JSON."""
    return {
        "topics": [[part.topic, part.text] for part in match.parts],
        "rejected": match.rejected,
        "small_talk": match.small_talk,
        "scores": [[score.topic, score.score] for score in match.scores],
    }


def main() -> int:
    from scenarios.kit.phrasings import load_phrasings
    from stakeholders.matcher import Matcher, TopicInfo

    asked = json.load(sys.stdin)
    topics = [TopicInfo(id=key, person=person, subject=subject, about="") for key, person, subject in asked["topics"]]
    matcher = Matcher.load(load_phrasings(Path(asked["phrasings"])), topics, None)
    json.dump([told(matcher.match(text, person)) for person, text in asked["messages"]], sys.stdout, ensure_ascii=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
