"""Hauliers are Procurement's business: nobody is charged."""


def letter_to(case, today):
    """The haulier that a letter goes to today: none."""
    return ""
