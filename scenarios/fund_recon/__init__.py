"""Scenario: the downtime credit that is held every month (a drilling operator)."""
