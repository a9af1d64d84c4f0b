"""A browser without a screen: cookies, CSRF tokens, and the page's own patience with a site that is away for a moment."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Collection
from typing import Any

import httpx

PATIENCE_S = 30.0  #: after so long without an answer a person reloads


class Refused(Exception):
    """The site answered, and the answer is no."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"{status}: {words[:300]}")
        self.status = status


class Away(Exception):
    """No answer, or one that says to try again."""


def back_off(attempt: int, chance: random.Random) -> float:
    """Seconds until the next try: what ``static/js/workbench/server.js`` waits."""
    return min(10.0, 0.25 * 2.0**attempt) * (0.5 + chance.random() / 2)


class Browser:
    """One person's. ``address`` is the site's, with scheme and port."""

    def __init__(self, address: str, chance: random.Random) -> None:
        self.address = address
        self.chance = chance
        limits = httpx.Limits(max_keepalive_connections=6, max_connections=12)
        self._client = httpx.AsyncClient(base_url=address, timeout=PATIENCE_S, follow_redirects=True, limits=limits)

    async def close(self) -> None:
        await self._client.aclose()

    @property
    def headers(self) -> dict[str, str]:
        """For a WebSocket: the session, and where the page came from."""
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self._client.cookies.jar)
        return {"Cookie": cookies, "Origin": self.address}

    async def once(self, method: str, path: str, **content: Any) -> httpx.Response:
        """One request. Raises ``Away`` or ``Refused``."""
        headers = {"X-CSRFToken": self._client.cookies.get("csrftoken") or "", "Referer": self.address + path}
        headers |= {"Accept": "application/json"} if "json" in content else {}
        try:
            answer = await self._client.request(method, path, headers=headers, **content)
        except httpx.TransportError as problem:
            raise Away(repr(problem)) from problem
        if answer.status_code >= 500 or answer.status_code == 429:
            raise Away(f"{answer.status_code}: {answer.text[:300]}")
        if answer.status_code >= 400:
            raise Refused(answer.status_code, answer.text)
        return answer

    async def get(self, path: str) -> httpx.Response:
        return await self.once("GET", path)

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """One request with JSON, and its answer."""
        answer = await self.once("POST", path, json=body)
        try:
            return dict(answer.json())
        except json.JSONDecodeError as problem:
            raise Refused(answer.status_code, f"{answer.url} is no JSON: {answer.text[:200]}") from problem

    async def patiently(
        self, method: str, path: str, *, before: Callable[[], None] = lambda: None, **content: Any
    ) -> httpx.Response:
        """The same request again and again until the site answers; ``before`` is called before each. Raises ``Refused``."""
        attempt = 0
        while True:
            before()
            try:
                return await self.once(method, path, **content)
            except Away:
                await asyncio.sleep(back_off(attempt, self.chance))
                attempt += 1


class Signs:
    """When each of a person's lines to the product last proved to be alive: by something that began after a moment."""

    def __init__(self) -> None:
        self._began: dict[str, float] = {}
        self._expected: set[str] = set()

    def expect(self, *lines: str) -> None:
        """From now on these are to be alive."""
        self._expected |= set(lines)

    def dismiss(self, *lines: str) -> None:
        self._expected -= set(lines)

    def alive(self, line: str, began: float) -> None:
        """Something that began then has come through."""
        self._began[line] = max(began, self._began.get(line, 0.0))

    def all_alive(self, lines: Collection[str]) -> bool:
        return self._expected >= set(lines) and all(line in self._began for line in lines)

    async def back(self, since: float, within_s: float) -> dict[str, float | None]:
        """Line → seconds from ``since`` until it carried something that began after it; None: not within that time.

        A line that nobody expects any more (the person has handed in) is left out.
        """
        found: dict[str, float | None] = {}
        waited = set(self._expected)
        while waited:
            now = time.time()
            for line in list(waited):
                if self._began.get(line, 0.0) >= since:
                    found[line] = max(0.0, now - since)
                elif now - since > within_s:
                    found[line] = None
                elif line in self._expected:
                    continue
                waited.discard(line)
            await asyncio.sleep(0.05)
        return found
