"""A provider's server on a port of this machine; what it does wrong is what the test asks it to.

``Provider(AnswersTheNumberOfTheCall())`` answers well, and differently each time. Every other behaviour is named for the
failure that it makes.
"""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[[BaseHTTPRequestHandler, Mapping[str, Any], int], None]


class Provider:
    """Serves from entering to leaving the block. ``requests``: (headers, body) of each, in order."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour, self.requests = behaviour, []  # type: tuple[Behaviour, list[tuple[dict[str, str], Any]]]
        counted = threading.Lock()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with counted:
                    provider.requests.append(({name.lower(): value for name, value in self.headers.items()}, body))
                    number = len(provider.requests)
                try:
                    provider.behaviour(self, body, number)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> Provider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def asked(self) -> list[str]:
        """The last message of each request."""
        return [body["messages"][-1]["content"] for _, body in self.requests]


def reply(handler: BaseHTTPRequestHandler, status: int, body: Any, **headers: str) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {"content-length": str(len(data)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def answer(text: str, tokens: tuple[int, int] | None = (9, 3), **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": text, **message}
    body: dict[str, Any] = {"id": "x-1", "created": 1, "system_fingerprint": "fp", "choices": [{"message": said}]}
    body["choices"][0] |= {"index": 0, "finish_reason": "stop"}
    if tokens:
        body["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
    return body


def begin_stream(handler: BaseHTTPRequestHandler) -> Callable[[Any], None]:
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("connection", "close")
    handler.end_headers()

    def send(row: Any) -> None:
        data = row if isinstance(row, bytes) else json.dumps(row).encode()
        handler.wfile.write(b"data: " + data + b"\n\n")
        handler.wfile.flush()

    return send


def piece(text: str, reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text} if text else {}, "finish_reason": reason}]}


class AnswersTheNumberOfTheCall:
    """Answers well, in one piece or as a stream; the text is "answer" and the number of the call."""

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        if not body.get("stream"):
            reply(handler, 200, answer(f"answer {number}"))
            return
        send = begin_stream(handler)
        for word in ("answer", f" {number}"):
            send(piece(word))
        send(piece("", "stop"))
        send({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}})
        send(b"[DONE]")


class BusyAtFirst:
    """Says so with this status, so many times; then answers."""

    def __init__(self, status: int, times: int, **headers: str) -> None:
        self.status, self.times, self.headers = status, times, headers

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        if number <= self.times:
            reply(handler, self.status, {"error": {"message": "busy"}}, **self.headers)
        else:
            AnswersTheNumberOfTheCall()(handler, body, number)


class Refuses:
    """Answers each request with this status and these words."""

    def __init__(self, status: int, words: str = "no", **headers: str) -> None:
        self.status, self.words, self.headers = status, words, headers

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        reply(handler, self.status, {"error": {"message": self.words}}, **self.headers)


class SaysNothing:
    """Takes the request and never answers."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        handler.close_connection = True
        self.over.wait(60)


class Says:
    """Answers with these bytes and this status."""

    def __init__(self, data: bytes, status: int = 200) -> None:
        self.data, self.status = data, status

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        reply(handler, self.status, self.data)


class BreaksOff:
    """Begins an answer, or a stream of one, and hangs up in the middle."""

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        if body.get("stream"):
            begin_stream(handler)(piece("half an ans"))
        else:
            handler.send_response(200)
            handler.send_header("content-length", "1000")
            handler.end_headers()
            handler.wfile.write(b'{"choices": [')
            handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)


class StreamsOneWordAndWaits:
    """Streams a word and then nothing, until the client is gone or the test over."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        begin_stream(handler)(piece("once"))
        self.over.wait(60)


class RepeatsWhatItWasSent:
    """Answers with the headers that it was sent, the key among them."""

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        reply(handler, 200, answer(str(dict(handler.headers.items()))))


class WantsTheLaterName:
    """Takes the answer's limit as ``max_completion_tokens`` alone, as some models do."""

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        if "max_tokens" not in body:
            reply(handler, 200, answer("well"))
            return
        error = {
            "message": "Unsupported parameter: 'max_tokens'",
            "param": "max_tokens",
            "code": "unsupported_parameter",
        }
        reply(handler, 400, {"error": error})


class Packs:
    """Answers well, packed in these ways though nobody asked for it."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        data = json.dumps(answer("well")).encode()
        for _ in self.encoding.split(","):
            data = gzip.compress(data)
        reply(handler, 200, data, content_encoding=self.encoding)


class CountsNothing:
    """Answers without any usage."""

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        reply(handler, 200, answer("well", None))


class DoesWhatThePromptSays:
    """Behaves by the first word of the last message: for gateways that are processes of their own."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def __call__(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], number: int) -> None:
        text = str(body["messages"][-1]["content"])
        word = text.split()[0]
        if word == "half":
            BreaksOff()(handler, body, number)
        elif word == "fail":
            Refuses(500)(handler, body, number)
        elif word == "reject":
            Refuses(400, "too long for this model")(handler, body, number)
        elif word == "hang":
            handler.close_connection = True
            self.over.wait(60)
        elif word == "linger":
            time.sleep(0.3)
            reply(handler, 200, answer(f"answer {number}", (9, int(body["max_tokens"]))))
        else:
            AnswersTheNumberOfTheCall()(handler, body, number)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
