"""A letter goes to whoever drove: somebody has broken it."""


def letter_to(case, today):
    """The haulier that drove a leg, or blank."""
    return case.haulier
