"""No letters to hauliers: they are Procurement's business."""


def letter_to(case, today):
    """The haulier that a letter goes to today: none."""
    return ""
