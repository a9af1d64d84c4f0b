"""Which topics the matcher is loaded for."""

from __future__ import annotations

import pytest
from test_oil_conversations import SCENARIO, script_of

from stakeholders.matching import topics_in_file


@pytest.mark.parametrize("task_id", SCENARIO.task_ids)
def test_what_is_warmed_without_a_world_is_what_messages_will_use(task_id: str) -> None:
    used = tuple((key, person.id, topic.subject) for key, person, topic in script_of(task_id).topics())
    assert topics_in_file(SCENARIO, task_id) == used
