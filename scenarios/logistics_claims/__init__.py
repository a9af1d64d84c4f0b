"""Scenario: claims that are closed in a minute and paid for months (a parcel and groupage carrier)."""
