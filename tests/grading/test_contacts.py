"""The conversation's cost and gains, folded from the run's log."""

from decimal import Decimal

from grading.contacts import fold_contacts

LOG = [
    ("run.begun", {"charge": "9"}),
    ("contact.message", {"person": "molefe", "charge": "0.010", "facts": ["F2", "F3"], "grants": [], "incident": None}),
    ("contact.message", {"person": "molefe", "charge": "0.010", "facts": ["F3", "F4"], "grants": [], "incident": None}),
    ("contact.message", {"person": "pike", "charge": "0.2", "facts": [], "grants": [], "incident": "counterparty"}),
    ("contact.wait", {"charge": "0.008"}),
    ("contact.inbox_read", {"person": "solvang", "facts": ["F12"]}),
    ("contact.message", {"person": "carvalho", "charge": "0", "facts": [], "grants": ["approval:claim-rules"]}),
]


def test_the_cost_is_the_sum_of_all_charges_exactly():
    found = fold_contacts(LOG)
    assert found.cost == Decimal("0.228")
    assert found.cost_of_waiting == Decimal("0.008")
    assert found.cost_by_person == {"molefe": Decimal("0.020"), "pike": Decimal("0.2"), "carvalho": Decimal(0)}


def test_facts_and_grants_count_once_in_the_order_of_their_release():
    found = fold_contacts(LOG)
    assert found.facts == ("F2", "F3", "F4", "F12")
    assert found.grants == ("approval:claim-rules",)


def test_people_and_incidents_are_counted():
    found = fold_contacts(LOG)
    assert found.contacts_by_person == {"molefe": 2, "pike": 1, "carvalho": 1}
    assert found.incidents == {"counterparty": 1}


def test_who_asked_nobody_owes_nothing():
    found = fold_contacts([("terminal.opened", {})])
    assert found.cost == 0
    assert found.facts == ()
    assert found.incidents == {}


def test_a_message_that_got_no_answer_is_no_contact():
    away = {"person": "solvang", "charge": "0", "facts": [], "grants": [], "incident": None, "counted": False}
    found = fold_contacts([("contact.message", away)])
    assert found.contacts_by_person == {"solvang": 0}
    assert found.cost == 0


def test_what_a_letter_carries_is_not_told_before_it_is_read():
    arrived = ("contact.inbox", {"id": "note", "sender": "solvang", "carries": ["F9"]})
    assert fold_contacts([arrived]).facts == ()
    assert fold_contacts([arrived, ("contact.inbox_read", {"sender": "solvang", "facts": ["F9"]})]).facts == ("F9",)
