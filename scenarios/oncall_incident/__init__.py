"""Scenario: the pager that wakes the wrong engineer (software for hospitals and pharmacies)."""
