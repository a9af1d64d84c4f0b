"""In which order the assessors get what people have to decide: the largest claim first, as ever."""


def priority(connection, one, today):
    """The amount claimed, EUR."""
    return one.claim["claimed_eur"]
