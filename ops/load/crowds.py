"""A load of so many people on a product: client processes of their own, and the product's cost meanwhile."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ops.load.measuring import Meter, memory_mb
from ops.load.notes import Notes
from ops.load.people import Account
from ops.load.product import ROOT, Product, questions_of
from ops.load.visitor import DRAWS_BYTES_PER_S

PEOPLE_A_CLIENT = 100  #: more in one process would wait for each other
SUBMITS_ONE_OF = 20
SEEDS = 1 << 30


@dataclass(frozen=True, slots=True)
class Plan:
    """One load. ``arrive_s``: over how many seconds people arrive; ``seconds``: how long they work, all being there."""

    people: int
    seconds: float = 60.0
    arrive_s: float = 20.0
    floods: int = 5
    seed: int = 1
    scenario: str = "first_delivery"
    level: str = "L3"
    kind: str = "engineer"  #: of those who do not flood
    submit: bool = True  #: whether one of twenty hands in
    pace: float = 1.0
    draws: float = DRAWS_BYTES_PER_S


def accounts_of(plan: Plan, sessions: dict[str, str]) -> list[Account]:
    """Who is what: floods first, then of the others one of so many hands in."""
    chance = random.Random(plan.seed)
    found = []
    for number, (name, session) in enumerate(sessions.items()):
        kind = plan.kind
        if number < plan.floods:
            kind = "flooder"
        elif plan.submit and (number - plan.floods) % SUBMITS_ONE_OF == SUBMITS_ONE_OF // 2:
            kind = "submitter"
        found.append(Account(name, session, chance.randrange(SEEDS), kind, plan.pace, plan.draws))
    return found


class Client:
    """A process of people (``ops.load.crowd``)."""

    def __init__(self, plan: Plan, address: str, accounts: Sequence[Account]) -> None:
        said = {
            "address": address,
            "seconds": plan.seconds,
            "arrive_s": plan.arrive_s,
            "customer": {
                "scenario": plan.scenario,
                "level": plan.level,
                "questions": questions_of(plan.scenario),
            },
            "accounts": [asdict(account) for account in accounts],
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ops.load.crowd"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._say(json.dumps(said))

    def _say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"a client of the load ended with {self.process.wait()}")
        said: dict[str, Any] = json.loads(line)
        return said

    def until_arrived(self) -> int:
        return int(self._hear()["arrived"])

    def work(self) -> None:
        self._say("now")

    def result(self) -> dict[str, Any]:
        said = self._hear()
        self.process.wait(30)
        return said

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def _shared_out(accounts: Sequence[Account]) -> list[list[Account]]:
    """Accounts by client: those that flood have one of their own, for reading a flood keeps a process busy."""
    floods = [account for account in accounts if account.kind == "flooder"]
    others = [account for account in accounts if account.kind != "flooder"]
    clients = max(1, -(-len(others) // PEOPLE_A_CLIENT))
    return [each for each in ([others[at::clients] for at in range(clients)] + [floods]) if each]


def load(product: Product, plan: Plan) -> dict[str, Any]:
    """Run it; what people noted (``arriving``, ``working``), what the product cost, and what the clients did."""
    accounts = accounts_of(plan, product.make_accounts(plan.people))
    idle_mb = memory_mb(product.supervisor) if product.supervisor else {}
    started = time.monotonic()
    clients = [Client(plan, product.address, share) for share in _shared_out(accounts)]
    try:
        arrived = sum(client.until_arrived() for client in clients)
        arriving_s = time.monotonic() - started
        meter = Meter(product.supervisor, tuple(client.process.pid for client in clients))
        meter.start()
        for client in clients:
            client.work()
        time.sleep(plan.seconds * 0.9)
        cost = meter.stop()
        busy_mb = memory_mb(product.supervisor) if product.supervisor else {}
        results = [client.result() for client in clients]
    finally:
        for client in clients:
            client.end()
        product.remove_accounts()
    arriving, working = Notes(), Notes()
    for result in results:
        arriving.add(Notes.of_json(result["arriving"]))
        working.add(Notes.of_json(result["working"]))
    return {
        "plan": asdict(plan),
        "arrived": arrived,
        "arriving_s": round(arriving_s, 1),
        "arriving": arriving,
        "working": working,
        "cost": cost,
        "memory_mb": {"before": idle_mb, "during": busy_mb},
        "clients_cpu_share": [round(result["cpu_s"] / plan.seconds, 2) for result in results],
    }
