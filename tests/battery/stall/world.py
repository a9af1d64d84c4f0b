"""Days at a market stall: sales by item, and some goods brought back."""

from scenarios.kit.world import BuildResult

DAYS = 10
ITEMS = ("bread", "honey", "plums")


def days(streams, name):
    """For each day its rows of item and amount in cents; each item has sales, the last two also a return."""
    rng = streams.rng(name)
    made = []
    for _ in range(DAYS):
        rows = [(item, int(amount)) for item in ITEMS for amount in rng.integers(100, 1000, size=3)]
        rows += [(item, -int(rng.integers(10, 90))) for item in ITEMS[1:]]
        made.append(rows)
    return made


def as_csv(rows):
    return ("item,amount\n" + "".join(f"{item},{amount}\n" for item, amount in rows)).encode()


def build(task, streams, out):
    for number, rows in enumerate(days(streams, "visible")):
        (out / "data" / f"day_{number}.csv").write_bytes(as_csv(rows))
    return BuildResult()


class Production:
    def __init__(self, task, streams):
        self.returns = task.facts["returns"]
        self.days = days(streams, "held-out")

    def truth(self, day):
        """Item → total, and None → the total of all."""
        counted = [(item, amount) for item, amount in self.days[day] if amount > 0 or self.returns == "subtract"]
        totals = {item: sum(amount for other, amount in counted if other == item) for item in ITEMS}
        return {**totals, None: sum(totals.values())}
