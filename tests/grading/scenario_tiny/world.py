"""Ten days at a market stall: sales, and some goods brought back."""

from scenarios.kit.world import BuildResult

DAYS = 10


def days(streams, name):
    """For each day the amounts, in cents; a negative amount is a return."""
    rng = streams.rng(name)
    return [
        [int(amount) for amount in rng.integers(100, 1000, size=6)] + [-int(rng.integers(10, 90))] for _ in range(DAYS)
    ]


def as_csv(amounts):
    return ("amount\n" + "".join(f"{amount}\n" for amount in amounts)).encode()


def build(task, streams, out):
    for number, amounts in enumerate(days(streams, "visible")):
        (out / "data" / f"day_{number}.csv").write_bytes(as_csv(amounts))
    return BuildResult()


class Production:
    def __init__(self, task, streams):
        self.returns = task.facts["returns"]
        self.days = days(streams, "held-out")

    def truth(self, day):
        amounts = self.days[day]
        return sum(amount for amount in amounts if amount > 0 or self.returns == "subtract")

    def as_found(self, day):
        return sum(abs(amount) for amount in self.days[day])
