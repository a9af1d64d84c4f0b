"""Which topics of a person does a message speak of? A small model, shipped with the package; no network, no key."""

from stakeholders.matcher.matching import (
    Match,
    MatchedPart,
    Matcher,
    PhrasingsMissing,
    TopicInfo,
    TopicScore,
)

__all__ = ["Match", "MatchedPart", "Matcher", "PhrasingsMissing", "TopicInfo", "TopicScore"]
