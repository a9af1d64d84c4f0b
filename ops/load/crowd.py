"""A process of people: ``python -m ops.load.crowd``.

On standard input a plan (one line of JSON), then, when everybody has arrived and the measured time begins, a line. On
standard output a line when everybody has arrived, and in the end the notes (one line of JSON).
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from typing import Any

import uvloop

from ops.load.notes import Notes
from ops.load.people import KINDS, Account, Customer, Person
from ops.load.visitor import Refused

LEAVING_S = 1000.0  #: for what is under way when the time is over: a grade


def people_of(plan: dict[str, Any], notes: Notes) -> list[Person]:
    said = plan["customer"]
    customer = Customer(said["scenario"], said["level"], tuple((who, text) for who, text in said["questions"]))
    accounts = [Account(**account) for account in plan["accounts"]]
    return [KINDS[account.kind](account, plan["address"], customer, notes) for account in accounts]


async def _arrive(person: Person, after_s: float) -> bool:
    await asyncio.sleep(after_s)
    try:
        await person.arrive()
    except (Refused, TimeoutError) as problem:
        person.notes.errors[f"did not arrive: {type(problem).__name__} {problem}"[:200]] += 1
        return False
    return True


async def visit(plan: dict[str, Any]) -> dict[str, Any]:
    """Let all arrive, work for ``plan["seconds"]``, leave. What was noted while they arrived is told apart."""
    arriving, working = Notes(), Notes()
    people = people_of(plan, arriving)
    apart_s = plan["arrive_s"] / max(1, len(people))
    arrived = await asyncio.gather(*(_arrive(person, number * apart_s) for number, person in enumerate(people)))
    here = [person for person, is_here in zip(people, arrived, strict=True) if is_here]
    print(json.dumps({"arrived": len(here)}), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    for person in here:
        person.note_in(working)
    began_s = cpu_s()
    at_work = [asyncio.create_task(person.stay()) for person in here]
    await asyncio.sleep(plan["seconds"])
    spent_s = cpu_s() - began_s
    for person in people:
        person.over.set()
    await asyncio.wait_for(asyncio.gather(*at_work), LEAVING_S)
    await asyncio.gather(*(person.leave() for person in people))
    return {"arriving": arriving.as_json(), "working": working.as_json(), "cpu_s": spent_s}


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    plan = json.loads(sys.stdin.readline())
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(visit(plan))), flush=True)


if __name__ == "__main__":
    main()
