"""Somebody who works: begins a run, has a program print in a terminal, types, asks, saves, hands in, waits for the grade.

Everything that the person sent and saw goes into an account (``account``), kept without a look at what the product stores.
Lost connections are taken up again as the page does it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import time
import uuid
from collections.abc import Awaitable, Callable

import websockets

from ops.chaos.account import PersonAccount, RunAccount, Saved, Sent, Typed
from ops.chaos.browser import Away, Browser, Refused, Signs, back_off
from ops.chaos.terminals import COUNTED, GOT

SCENARIO = "first_delivery"
KEPT_FILE = "kept.txt"  #: below system/
PASSWORD = "a-long-password-of-the-fault-test"
SILENCE_S = 50.0  #: as in the page
NO_PROGRAM_S = 15.0  #: connected, and the program prints nothing for so long: it was not started
OVER = (4403, 4404, 4409)

#: Prints numbered lines and repeats each line it reads; no echo, so that nothing else is in its output.
PROGRAM = r"""import os, select, sys, time
name, number, turn, waiting = sys.argv[1], 0, 0, b""
while True:
    if select.select([0], [], [], 0.1)[0]:
        came = os.read(0, 4096)
        if not came: break
        *lines, waiting = (waiting + came).split(b"\n")
        for line in lines: print("<got %s>" % line.decode())
    turn += 1
    for _ in range(600 if turn % 60 == 0 else 1 + turn % 5):
        print("<%s %d %.3f>" % (name, number, time.time()))
        number += 1
    sys.stdout.flush()
"""
START = "stty -echo; exec python3 -c $'{program}' {name}\n"


class Person:
    """``chance`` decides what is done when; ``run_s``: how long a run is worked in, at least and at most."""

    def __init__(self, name: str, address: str, chance: random.Random, run_s: tuple[float, float]) -> None:
        self.account = PersonAccount(name)
        self.signs = Signs()
        self.waited_for_grades: list[float] = []
        self._browser = Browser(address, chance)
        self._chance = chance
        self._run_s = run_s
        self._numbers = 0
        self._connection = 0  #: counts whatever takes lines typed: connections, and programs started anew
        self._program_runs = False

    async def close(self) -> None:
        await self._browser.close()

    async def sign_up(self) -> None:
        """Make an account; the answer may be lost, then the name is taken and the person signs in."""
        fields = {"username": self.account.name, "password1": PASSWORD, "password2": PASSWORD}
        while True:
            page = await self._browser.patiently("GET", "/account/sign-up/")
            with contextlib.suppress(Refused):
                page = await self._browser.patiently("POST", "/account/sign-up/", data=fields)
            if page.url.path not in ("/account/sign-up/", "/account/sign-in/"):
                return
            login = {"login": self.account.name, "password": PASSWORD}
            with contextlib.suppress(Refused):
                page = await self._browser.patiently("POST", "/account/sign-in/", data=login)
            if page.url.path not in ("/account/sign-up/", "/account/sign-in/"):
                return
            await asyncio.sleep(1)

    async def live(self, leaving: asyncio.Event) -> None:
        """Run after run, until told to leave; then the last one is handed in and its grade awaited."""
        while not leaving.is_set():
            run = await self._begin()
            await self._work(run, leaving)
            await self._submit(run)
            await self._await_grade(run)

    # ---- a run

    async def _begin(self) -> RunAccount:
        page = f"/scenarios/{SCENARIO}/"
        await self._browser.patiently("GET", page)
        began = await self._browser.patiently("POST", f"{page}begin/", data={"level": "L3"})
        found = re.search(r"/runs/([0-9a-f-]{36})/", began.url.path)
        if found is None:
            raise Refused(began.status_code, f"beginning led to {began.url}")
        run = self.account.runs.setdefault(found[1], RunAccount(found[1]))
        while True:
            state = (await self._browser.patiently("GET", f"/runs/{run.id}/state/")).json()["state"]
            if state != "preparing":
                return run
            await asyncio.sleep(0.3)

    async def _work(self, run: RunAccount, leaving: asyncio.Event) -> None:
        stop, self._program_runs = asyncio.Event(), False
        lines = [asyncio.create_task(each) for each in (self._terminal(run), self._feed(run))]
        doing = [
            asyncio.create_task(self._again_and_again(stop, every, act))
            for every, act in (
                ((0.4, 0.6), lambda: self._look_at_page(run)),
                ((0.8, 1.2), lambda: self._look_at_inbox(run)),
                ((5.0, 9.0), lambda: self._speak(run)),
                ((4.0, 8.0), lambda: self._save(run)),
            )
        ]
        self.signs.expect("pages", "people")  # the sockets once they are open
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._chance.uniform(*self._run_s)):
                    await leaving.wait()
            stop.set()
            await asyncio.gather(*doing)
        finally:
            for task in (*lines, *doing):
                task.cancel()
            ended = await asyncio.gather(*lines, *doing, return_exceptions=True)
            self.signs.dismiss("terminal", "feed", "pages", "people")
        for problem in ended:
            if isinstance(problem, Exception):
                raise problem

    async def _again_and_again(
        self, stop: asyncio.Event, every: tuple[float, float], act: Callable[[], Awaitable[None]]
    ) -> None:
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._chance.uniform(*every)):
                    await stop.wait()
            if not stop.is_set():
                await act()

    async def _look_at_page(self, run: RunAccount) -> None:
        began = time.time()
        with contextlib.suppress(Away):
            await self._browser.get(f"/runs/{run.id}/state/")
            self.signs.alive("pages", began)

    async def _look_at_inbox(self, run: RunAccount) -> None:
        began = time.time()
        with contextlib.suppress(Away):
            await self._browser.post(f"/runs/{run.id}/inbox/", {})
            self.signs.alive("people", began)

    async def _speak(self, run: RunAccount) -> None:
        """Write to somebody, or let an hour pass: sent until it is answered, under one id."""
        client_id = f"m-{uuid.UUID(int=self._chance.getrandbits(128))}"
        if self._chance.random() < 0.15:
            sent = Sent("wait", "", "1h")
            path, body = "wait/", {"until": sent.text, "confirmed": True}
        else:
            person = self._chance.choice(("merryn", "jory"))
            sent = Sent("message", person, f"{self._chance.choice(QUESTIONS)} ({self._number()})")
            path, body = "messages/", {"person": person, "text": sent.text}
        run.sent[client_id] = sent

        def tried() -> None:
            sent.tries += 1

        answer = await self._browser.patiently(
            "POST", f"/runs/{run.id}/{path}", json={**body, "id": client_id}, before=tried
        )
        sent.reply = answer.json()["reply"]

    async def _save(self, run: RunAccount) -> None:
        """Save the file once; what got no answer stays in doubt."""
        save = Saved(len(run.saves) + 1)
        run.saves.append(save)
        body = {"action": "save", "path": f"system/{KEPT_FILE}", "text": str(save.number), "version": None}
        with contextlib.suppress(Away):
            await self._browser.post(f"/runs/{run.id}/file/", body)
            save.confirmed = True

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    async def _submit(self, run: RunAccount) -> None:
        def tried() -> None:
            run.submit_tries += 1

        answer = await self._browser.patiently("POST", f"/runs/{run.id}/submit/", json={}, before=tried)
        run.submit_answers.append(answer.json()["url"])

    async def _await_grade(self, run: RunAccount) -> None:
        since = time.time()
        while True:
            page = await self._browser.patiently("GET", f"/runs/{run.id}/grading/")
            if page.url.path.endswith("/debrief/"):
                break
            if (await self._browser.patiently("GET", f"/runs/{run.id}/state/")).json()["state"] == "void":
                return
            await asyncio.sleep(0.5)
        self.waited_for_grades.append(time.time() - since)
        run.export = (await self._browser.patiently("GET", f"/runs/{run.id}/export.json")).json()

    # ---- its two sockets

    def _socket(self, path: str) -> websockets.connect:
        url = self._browser.address.replace("http", "ws", 1) + path
        headers = self._browser.headers
        return websockets.connect(
            url, additional_headers=headers, compression=None, max_size=None, open_timeout=10, close_timeout=1,
            ping_interval=None, proxy=None,
        )  # fmt: skip

    async def _terminal(self, run: RunAccount) -> None:
        """Watch terminal 1 until the run is over; what it misses while away it asks for by number."""
        attempt = 0
        while True:
            seen = run.terminal.seen
            try:
                given = await self._browser.post(f"/runs/{run.id}/terminals/ticket/", {"terminal": 1})
                after = "" if seen is None else f"&after={seen}"
                async with self._socket(given["url"] + after) as socket:
                    self._connection += 1
                    typing = asyncio.create_task(self._type(run, socket))
                    try:
                        await self._watch(run, socket)
                    finally:
                        typing.cancel()
                        await asyncio.gather(typing, return_exceptions=True)
                attempt = 0
            except websockets.ConnectionClosed as closed:
                if closed.rcvd is not None and closed.rcvd.code in OVER:
                    return
                attempt = 0 if run.terminal.seen != seen else attempt
            except Refused:
                return  # as the page does it: the run is over, or not this person's
            except (Away, TimeoutError, OSError, websockets.WebSocketException):
                pass
            await asyncio.sleep(back_off(attempt, self._chance))
            attempt += 1

    async def _watch(self, run: RunAccount, socket: websockets.ClientConnection) -> None:
        terminal, tail, program_since = run.terminal, b"", time.time()
        while True:
            message = await asyncio.wait_for(socket.recv(), SILENCE_S)
            if isinstance(message, str):
                said = json.loads(message)
                if said["type"] == "hello":
                    terminal.joined(said["seq"])
                elif said["type"] == "gap":
                    terminal.left_out.append((said["from"], said["to"]))
                    terminal.joined(said["to"])
                elif said["type"] == "reset":
                    await self._start_program(socket, again=False)
                    program_since = time.time()
                elif said["type"] == "exit":
                    return
                continue
            terminal.got(message)
            text = tail + message
            tail = text[text.rfind(b">") + 1 :][-64:]
            if counted := COUNTED.findall(text):
                self._program_runs = True
                self.signs.expect("terminal")
                self.signs.alive("terminal", float(counted[-1][2]))
                program_since = time.time()
            elif time.time() - program_since > NO_PROGRAM_S:
                await self._start_program(socket, again=True)
                program_since = time.time()
            for token in GOT.findall(text):
                for typed in terminal.typed[-20:]:
                    typed.answered |= typed.token == token.decode()

    async def _start_program(self, socket: websockets.ClientConnection, *, again: bool) -> None:
        self._program_runs = False
        self._connection += 1
        program = PROGRAM.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        text = START.format(program=program, name=f"c{self._number()}")
        await socket.send((("\x03\n" if again else "") + text).encode())

    async def _type(self, run: RunAccount, socket: websockets.ClientConnection) -> None:
        """A line now and then, while the program runs."""
        while True:
            await asyncio.sleep(self._chance.uniform(0.5, 1.5))
            if self._program_runs:
                token = f"t{self._number()}"
                run.terminal.typed.append(Typed(token, self._connection, time.time()))
                await socket.send(f"{token}\n".encode())

    async def _feed(self, run: RunAccount) -> None:
        attempt, after = 0, 0
        while True:
            try:
                given = await self._browser.post(f"/runs/{run.id}/feed/ticket/", {})
                async with self._socket(f"{given['url']}&after={after}") as socket:
                    asking = asyncio.create_task(self._ask_whether_it_lives(socket))
                    try:
                        while True:
                            frame = json.loads(await socket.recv())
                            run.feed += frame["items"]
                            after, attempt = max(after, frame["seq"]), 0
                    finally:
                        asking.cancel()
                        await asyncio.gather(asking, return_exceptions=True)
            except Refused:
                return  # as the page does it: the run is over, or not this person's
            except (Away, TimeoutError, OSError, websockets.WebSocketException):
                pass
            await asyncio.sleep(back_off(attempt, self._chance))
            attempt += 1

    async def _ask_whether_it_lives(self, socket: websockets.ClientConnection) -> None:
        while True:
            began = time.time()
            await asyncio.wait_for(await socket.ping(), SILENCE_S)
            self.signs.expect("feed")
            self.signs.alive("feed", began)
            await asyncio.sleep(0.5)


#: What is asked; a number follows, so that no two messages are the same.
QUESTIONS = (
    "Good morning, who are you?",
    "What would you like changed on the sheet?",
    "Until when may a shop change its order?",
    "Does the ten in a hundred come back?",
    "What about order B-10234?",
    "Thank you, that helps.",
)
