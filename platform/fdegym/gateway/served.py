"""One run or grade at the gateway: each call checked, reserved, answered, settled. What the client says is only the request;
whose allowance it is, the socket says.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fdegym.gateway import kept, metering
from fdegym.gateway.answers import Answered, streamed
from fdegym.gateway.bodies import Bodies
from fdegym.gateway.chat import DEFAULT, ChatRequest, parse_chat
from fdegym.gateway.configuration import GatewayConfiguration, Price
from fdegym.gateway.http import HttpRequest, Responder
from fdegym.gateway.metering import ANSWERED, Reserved, Spent, Usage
from fdegym.gateway.models import Account
from fdegym.gateway.problems import GatewayProblem, disabled
from fdegym.gateway.providers import REQUEST_FAULTS, Provider
from fdegym.lib import logs

logger = logging.getLogger(__name__)

CALLS_AT_ONCE = 8  #: of one run or grade; more wait their turn
BURST = 60  #: requests at once
REQUESTS_A_SECOND = 20.0  #: … and in the long run; more are answered, later
LEFT = "client_left"  #: the client was gone before the answer was there
#: What a provider never began to answer costs nothing.
FREE = frozenset({"provider_unreachable", "provider_failed", "provider_refused", "not_recorded", "gateway_failed"})

Result = TypeVar("Result")
InThread = Callable[[Callable[[], Any]], Awaitable[Any]]


@dataclass
class Services:
    """What all of a gateway's accounts share."""

    configuration: GatewayConfiguration
    provider: Provider
    bodies: Bodies
    in_thread: InThread
    settling: set[asyncio.Task[None]] = field(default_factory=set)  #: to be waited for before the gateway ends


@dataclass
class _Pace:
    tokens: float = BURST
    at: float = field(default_factory=time.monotonic)

    def wait_s(self) -> float:
        now = time.monotonic()
        self.tokens = min(BURST, self.tokens + (now - self.at) * REQUESTS_A_SECOND) - 1
        self.at = now
        return max(0.0, -self.tokens / REQUESTS_A_SECOND)


class Served:
    """Answers the requests that come through one account's socket."""

    def __init__(self, account: Account, services: Services) -> None:
        self.account, self._services = account, services
        self._at_once = asyncio.Semaphore(CALLS_AT_ONCE)
        self._reading = asyncio.Lock()  # one thread at a time: however much one client sends, others are answered
        self._pace = _Pace()
        self._same: dict[str, asyncio.Lock] = {}
        self.calls_of_step = 0
        self.fault = ""  #: the last failure that is the provider's or ours

    async def handle(self, request: HttpRequest, responder: Responder) -> None:
        """Answer one request, whatever it is."""
        with logs.bound(run=self.account.run_id):
            await self._handle(request, responder)

    async def _handle(self, request: HttpRequest, responder: Responder) -> None:
        try:
            await asyncio.sleep(self._pace.wait_s())
            await self._route(request, responder)
        except GatewayProblem as problem:
            await self._refuse(problem, responder)
        except (TimeoutError, ConnectionError):
            raise
        except Exception:
            logger.exception("a call of %s failed", self.account.name)
            words = "The gateway could not do that just now. Try again in a moment."
            await self._refuse(GatewayProblem(500, "gateway_failed", words), responder)

    async def _route(self, request: HttpRequest, responder: Responder) -> None:
        if request.path == "/v1/chat/completions":
            if request.method != "POST":
                raise GatewayProblem(405, "invalid_request", "Chats are asked for with POST.")
            await self._chat(request, responder)
        elif request.path == "/v1/models":
            if request.method not in ("GET", "HEAD"):
                raise GatewayProblem(405, "invalid_request", "Models are listed with GET.")
            await responder.json(200, self._models())
        else:
            raise GatewayProblem(404, "unknown_path", "The gateway knows /v1/chat/completions and /v1/models.")

    def _models(self) -> dict[str, Any]:
        listed = self._services.configuration.models if self._services.configuration.enabled else ()
        rows = [{"id": name, "object": "model", "created": 0, "owned_by": "company"} for name in listed]
        return {"object": "list", "data": rows}

    # ---- one call

    async def _chat(self, http: HttpRequest, responder: Responder) -> None:
        async with self._reading:
            request, request_hash = await self._in_thread(lambda: _read(http.body))
        if self.account.run_id is not None:
            await self._make(request, request_hash, len(http.body), responder)
            return
        self._count_in_step()
        async with self._same.setdefault(request_hash, asyncio.Lock()):  # asked twice at once, it is made once
            answer = await self._in_thread(lambda: kept.find(self.account, request_hash))
            if answer is None:
                await self._make(request, request_hash, len(http.body), responder)
            else:
                await self._repeat(request, answer, responder)

    def _count_in_step(self) -> None:
        most = self.account.calls_per_step
        if most is not None and self.calls_of_step >= most:
            words = (
                f"A step of production may ask the gateway {most} times." if most else "Production has no model calls."
            )
            raise GatewayProblem(429, "step_allowance_spent", words)
        self.calls_of_step += 1

    def _price(self, model: str) -> tuple[str, Price]:
        """The model's name at the provider, and its price."""
        models = self._services.configuration.models
        if model == DEFAULT and models:
            model = next(iter(models))
        if model not in models and (models or self._services.provider.streams):
            raise GatewayProblem(404, "model_not_found", "The gateway has no such model; GET /v1/models lists them.")
        return model, models.get(model, Price())

    async def _make(self, request: ChatRequest, request_hash: str, size: int, responder: Responder) -> None:
        """A call that nobody has answered before."""
        if not self._services.configuration.enabled:
            raise disabled()
        model, price = self._price(request.model)
        reserved = metering.reservation(request.most_prompt_tokens(), request.tokens_out, price)
        await self._in_thread(lambda: metering.reserve(self.account, reserved))
        call = _Call(self, request, request_hash, model, price, reserved, size)
        try:
            async with self._at_once:
                if request.stream and self._services.provider.streams and self.account.run_id is not None:
                    await call.pass_on(responder)
                    return
                answered = await call.answer()
        finally:
            await call.settled()
        if self.account.run_id is None:
            # on another host the same may have been asked at the same time: the answer that is kept is the one that holds
            first = await self._in_thread(lambda: kept.find(self.account, request_hash))
            answered = answered if first is None else Answered(first.body)
        await self._deliver(request, answered, responder)

    async def _repeat(self, request: ChatRequest, answer: kept.Kept, responder: Responder) -> None:
        """An answer of an earlier grade, at its price of then and within the same allowance."""
        usage = answer.usage
        reserved = Reserved(request.most_prompt_tokens(), request.tokens_out, answer.reserved_nano)
        await self._in_thread(lambda: metering.reserve(self.account, reserved))
        outcome = ANSWERED if answer.status == 200 else "provider_refused"
        spent = Spent(request.hash(), request.model, outcome, usage, 0, kept=True)
        await self._in_thread(lambda: metering.settle(self.account, reserved, spent))
        if answer.status != 200:
            raise GatewayProblem(answer.status, "provider_refused", str(answer.body["message"]))
        await self._deliver(request, Answered(answer.body), responder)

    async def _deliver(self, request: ChatRequest, answered: Answered, responder: Responder) -> None:
        if not request.stream:
            await responder.json(200, answered.body)
            return
        await responder.begin_stream()
        wanted = request.stream_options is not None and request.stream_options.include_usage
        for piece in streamed(answered.body, include_usage=wanted):
            await responder.send(piece)
        await responder.end_stream()

    async def _refuse(self, problem: GatewayProblem, responder: Responder) -> None:
        if problem.is_fault:
            self.fault = problem.code
        if problem.status not in (404, 405):
            await self._in_thread(lambda: metering.note_refusal(self.account, problem.code))
        if not responder.begun:
            await responder.problem(problem)

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        result: Result = await self._services.in_thread(work)
        return result


def _read(body: bytes) -> tuple[ChatRequest, str]:
    request = parse_chat(body)
    return request, request.hash()


class _Call:
    """A call that is being made: what it came to is written down exactly once, also when its client leaves."""

    def __init__(
        self,
        served: Served,
        request: ChatRequest,
        request_hash: str,
        model: str,
        price: Price,
        reserved: Reserved,
        size: int,
    ) -> None:
        self._served, self._services = served, served._services
        self._request, self._hash, self._model, self._price = request, request_hash, model, price
        self._reserved, self._size = reserved, size
        self._begun = time.monotonic()
        self._outcome = LEFT  # while it waits for its turn; then nothing was asked, and nothing is charged
        self._usage: Usage | None = Usage(0, 0, 0)
        self._answered: Answered | None = None
        self._refused: GatewayProblem | None = None
        self._settling: asyncio.Task[None] | None = None

    async def answer(self) -> Answered:
        """The provider's answer as a whole. Raises ``GatewayProblem``."""
        try:
            self._ask()
            found = await self._services.provider.answer(self._request, request_hash=self._hash, model=self._model)
        except GatewayProblem as problem:
            self._failed(problem)
            raise
        except asyncio.CancelledError:
            self._outcome = LEFT
            raise
        self._got(found)
        return found

    async def pass_on(self, responder: Responder) -> None:
        """The provider's answer as it comes. What breaks off in the middle says so in the stream, and has no end."""
        request = self._request
        try:
            self._ask()
            async with self._services.provider.stream(request, request_hash=self._hash, model=self._model) as stream:
                async for piece in stream.events():
                    if not responder.begun:
                        await responder.begin_stream()
                    await responder.send(piece)
                self._got(stream.assembled.whole())
                usage = stream.assembled.usage_event()
        except GatewayProblem as problem:
            self._failed(problem)
            if not responder.begun:
                raise
            await self.settled()
            await responder.send(b"data: " + problem.encoded() + b"\n\n")
            await responder.end_stream()
            return
        except (asyncio.CancelledError, TimeoutError, ConnectionError):
            self._outcome = LEFT
            raise
        await self.settled()  # whoever has read the end finds the call on record
        if usage is not None and request.stream_options is not None and request.stream_options.include_usage:
            await responder.send(usage)
        await responder.send(b"data: [DONE]\n\n")
        await responder.end_stream()

    def _ask(self) -> None:
        """From here on the provider may charge for it."""
        self._outcome, self._usage = "gateway_failed", None

    def _got(self, found: Answered) -> None:
        self._outcome, self._answered = ANSWERED, found
        if found.prompt_tokens is not None and found.completion_tokens is not None:
            self._usage = self._used(found.prompt_tokens, found.completion_tokens)

    def _failed(self, problem: GatewayProblem) -> None:
        self._outcome, self._refused = problem.code, problem
        if problem.code in FREE:
            self._usage = self._used(0, 0)

    def _used(self, tokens_in: int, tokens_out: int) -> Usage:
        return Usage(tokens_in, tokens_out, self._price.of(tokens_in, tokens_out))

    async def settled(self) -> None:
        """Write it down once, in a task of its own: whoever is cancelled meanwhile, it is done."""
        if self._settling is None:
            self._settling = asyncio.ensure_future(self._settle())
            self._services.settling.add(self._settling)
            self._settling.add_done_callback(self._services.settling.discard)
        await asyncio.shield(self._settling)

    async def _settle(self) -> None:
        account, answered = self._served.account, self._answered
        answered_bytes = 0 if answered is None else len(str(answered.body))
        duration_ms = round((time.monotonic() - self._begun) * 1000)
        spent = Spent(
            self._hash,
            self._model,
            self._outcome,
            self._usage,
            duration_ms,
            asked_bytes=self._size,
            answered_bytes=answered_bytes,
        )
        await self._services.in_thread(lambda: metering.settle(account, self._reserved, spent))
        await self._services.in_thread(self._keep)

    def _keep(self) -> None:
        account, charged = self._served.account, self._usage
        if charged is None:
            charged = Usage(self._reserved.prompt_tokens, self._reserved.completion_tokens, self._reserved.nano)
        if self._answered is not None:
            self._services.bodies.keep(account.name, self._hash, self._request.asked(), self._answered.body)
            if account.run_id is None:
                kept.keep(account, self._hash, kept.Kept(200, self._answered.body, charged, self._reserved.nano))
        elif account.run_id is None and self._refused is not None and self._refused.status in REQUEST_FAULTS:
            refused = kept.Kept(self._refused.status, {"message": str(self._refused)}, charged, self._reserved.nano)
            kept.keep(account, self._hash, refused)
