"""People of a load: each a small script of what somebody does, with pauses of a seeded chance.

A person begins a run, opens its workbench (terminal and conversation), works until the time is over, and leaves.
"""

from __future__ import annotations

import abc
import asyncio
import random
from dataclasses import dataclass
from typing import ClassVar

from ops.load.notes import Notes
from ops.load.visitor import DRAWS_BYTES_PER_S, Feed, Refused, Shell, Visitor

GRADED_WITHIN_S = 900.0
LOOK_AT_GRADING_EVERY_S = 2.0
FEED_WITHIN_S = 30.0

READ = (
    "cat /workspace/directory.md",
    "ls -lR /workspace",
    "head -200 /workspace/system/*/*.py",
    "cat system/README.md",
)
LOOK = ("ls -l", "cd /workspace", "grep -rn def /workspace/system | head -40", "git --version", "wc -l system/*/*.py")
RUN = (
    """python3 -c 'print(sum(n * n for n in range(100000)))'""",
    "seq 1 20000 | sort -n | tail -3",
    "python3 -m json.tool --help | head -5",
)


@dataclass(frozen=True, slots=True)
class Account:
    """Of the site, made for the load. ``session``: the key of a session that is signed in. ``chance``: its seed."""

    name: str
    session: str
    chance: int
    kind: str = "engineer"
    pace: float = 1.0  #: 2: pauses twice as long
    draws: float = DRAWS_BYTES_PER_S  #: bytes a second that the page draws of what a terminal prints


@dataclass(frozen=True, slots=True)
class Customer:
    """Whom people visit, and what they write there: (person, text)."""

    scenario: str
    level: str
    questions: tuple[tuple[str, str], ...]


class Person(abc.ABC):
    """What every person does; ``work`` is the script of a kind."""

    keys_apart_s: ClassVar[float] = 0.15

    def __init__(self, account: Account, address: str, customer: Customer, notes: Notes) -> None:
        self.account, self.customer, self.notes = account, customer, notes
        self.chance = random.Random(account.chance)
        self.visitor = Visitor(address, account.session, notes)
        self.run = ""
        self.over = asyncio.Event()  #: the time is over: finish what is under way
        self.sent: set[str] = set()  #: ids of the messages that the site took
        self.feed, self.shell = Feed(self.visitor), Shell(self.visitor, draws=account.draws)

    # ---- arriving and leaving

    async def arrive(self) -> None:
        """Begin a run, and open its workbench as the page does."""
        scenario = self.customer.scenario
        await self.visitor.page("/scenarios/", "page: scenarios")
        await self.visitor.page(f"/scenarios/{scenario}/", "page: scenario")
        with self.notes.timed("workspace ready"):
            begun = await self.visitor.form(f"/scenarios/{scenario}/begin/", {"level": self.customer.level}, "begin")
            self.run = str(begun.url).rstrip("/").rpartition("/")[2]
            while True:
                state = (await self.visitor.page(f"/runs/{self.run}/state/", "state")).json()["state"]
                if state == "open":
                    break
                if state != "preparing":
                    raise Refused(f"the run is {state}")
                await asyncio.sleep(0.25)
        await self.visitor.page(f"/runs/{self.run}/", "page: workbench")
        self.feed.open(self.run)
        await self.shell.open(self.run)

    def note_in(self, notes: Notes) -> None:
        """From now on everything is noted there."""
        self.notes = self.visitor.notes = self.shell.notes = notes

    async def leave(self) -> None:
        """Look whether the conversation shows every message once, and close everything."""
        waited_s = 0.0
        while self.sent - self.feed.messages.keys() and waited_s < FEED_WITHIN_S:
            await asyncio.sleep(0.25)
            waited_s += 0.25
        for message in self.sent:
            if self.feed.messages[message] != 1:
                self.notes.errors[f"a message was shown {self.feed.messages[message]} times"] += 1
        await self.feed.close()
        await self.shell.close()
        await self.visitor.close()

    async def stay(self) -> None:
        """Work until the time is over."""
        await self.pause(0, 5)
        while not self.over.is_set():
            try:
                await self.work()
            except Refused:
                await self.pause(1, 3)  # the visitor has noted it
            except TimeoutError:
                self.notes.errors["not connected for a minute"] += 1

    @abc.abstractmethod
    async def work(self) -> None:
        """One round of what this kind of person does, then again from the beginning."""

    # ---- what a person can do

    async def pause(self, least_s: float, most_s: float) -> None:
        """Think; cut short when the time is over."""
        thinking = self.chance.uniform(least_s, most_s) * self.account.pace
        try:
            async with asyncio.timeout(thinking):
                await self.over.wait()
        except TimeoutError:
            return

    async def type(self, text: str) -> None:
        for key in text:
            await self.shell.key(key)
            await asyncio.sleep(self.chance.expovariate(1 / self.keys_apart_s))

    async def command(self, text: str, what: str) -> bytes:
        """Type a command and wait until it is done; what the terminal said meanwhile."""
        await self.type(text)
        return await self.shell.enter(what)

    async def write_to_somebody(self) -> None:
        person, text = self.chance.choice(self.customer.questions)
        given = f"{self.account.name}-{len(self.sent)}"
        self.notes.count("messages written")
        reply = await self.visitor.ask(
            f"/runs/{self.run}/messages/", {"person": person, "text": text, "id": given}, "reply of a person"
        )
        self.sent.add(str(reply["reply"]["id"]))
        self.notes.count("messages answered")

    async def hand_in(self) -> None:
        """Submit, and look at the grading page until there is a debrief."""
        with self.notes.timed("from submitting to the debrief"):
            await self.visitor.ask(f"/runs/{self.run}/submit/", {}, "submit")
            async with asyncio.timeout(GRADED_WITHIN_S):
                while True:
                    looked = await self.visitor.page(f"/runs/{self.run}/grading/", "page: grading")
                    if "/debrief/" in str(looked.url):
                        break
                    await asyncio.sleep(LOOK_AT_GRADING_EVERY_S)
        await self.visitor.page(f"/runs/{self.run}/debrief/", "page: debrief")
        self.notes.count("runs graded")


class Engineer(Person):
    """Reads, looks around, runs something, asks, looks at the board: mostly types, and thinks longer than types."""

    async def work(self) -> None:
        await self.pause(2, 10)
        act = self.chance.random()
        if act < 0.35:
            await self.command(self.chance.choice(READ), "command: read")
        elif act < 0.65:
            await self.command(self.chance.choice(LOOK), "command: look")
        elif act < 0.80:
            await self.command(self.chance.choice(RUN), "command: run")
        elif act < 0.92:
            await self.write_to_somebody()
        else:
            await self.visitor.page(self.chance.choice(("/leaderboard/", "/runs/", "/method/")), "page: others")


class Submitter(Engineer):
    """Works like the others for a while, then hands in, reads the debrief and stays away."""

    async def work(self) -> None:
        for _ in range(3):
            await super().work()
        await self.shell.close()  # as the page does when it leaves for the grading page
        await self.hand_in()
        await self.over.wait()


class Flooder(Person):
    """Has something running that prints without end, all the time: `yes`, or a big file again and again."""

    FLOODS: ClassVar[tuple[str, ...]] = ("yes", "while :; do cat /tmp/big; done")

    async def work(self) -> None:
        await self.command("seq 1 300000 > /tmp/big", "command: run")
        for flood in self.FLOODS:
            if self.over.is_set():
                return
            await self.type(flood)
            before = self.shell.received
            await self.shell.start()
            await self.pause(8, 12)
            await self.shell.interrupt()
            self.notes.count("bytes of floods", self.shell.received - before)


class Idler(Person):
    """Has the workbench open and is elsewhere."""

    async def work(self) -> None:
        await self.over.wait()


class Checker(Engineer):
    """For correctness: what a command prints is known to the byte, and is compared."""

    async def work(self) -> None:
        await self.pause(2, 8)
        if self.chance.random() < 0.25:
            await self.write_to_somebody()
            return
        first = self.chance.randrange(1, 1000)
        last = first + self.chance.randrange(1, 3000)
        said = await self.command(f"seq {first} {last}", "command: known")
        wanted = b"".join(b"%d\r\n" % number for number in range(first, last + 1))
        self.notes.count("outputs compared")
        if wanted not in said:
            self.notes.errors["output was not what the command prints"] += 1


KINDS: dict[str, type[Person]] = {
    "engineer": Engineer,
    "submitter": Submitter,
    "flooder": Flooder,
    "checker": Checker,
    "idler": Idler,
}
