"""The company's model gateway, as programs see it. Standard library only.

    from gateway import GatewayUnavailable, complete

    try:
        text = complete("Say this in one plain sentence: ...", max_tokens=120)
    except GatewayUnavailable:
        text = None

The gateway is metered, and a program must get by without it: it may not be connected, be busy, or have nothing left of
what this period allows. All of that is ``GatewayUnavailable``; its ``code`` says which. The same request has the same
answer, so a period that is run again costs nothing and changes nothing.
"""

import http.client
import json
import os
import socket

SOCKET = os.environ.get("GATEWAY_SOCKET", "/run/gateway/gateway.sock")
TIMEOUT_S = 60.0
MODEL = "default"  # the model that the gateway's owner has chosen
LONGEST_ANSWER = 4 * 1024 * 1024  # bytes


class GatewayUnavailable(Exception):
    """There is no answer. ``code`` is one word for programs: ``not_connected``, ``timeout``, ``unreadable``, or the
    gateway's own (``gateway_disabled``, ``allowance_spent``, ``invalid_request`` ...); ``status`` is that of HTTP, if any.
    """

    def __init__(self, words, code, status=None):
        super().__init__(words)
        self.code, self.status = code, status


class _Connection(http.client.HTTPConnection):
    """HTTP over the gateway's unix socket."""

    def __init__(self, path, timeout_s):
        super().__init__("gateway", timeout=timeout_s)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def complete(prompt, max_tokens=400, system=None, timeout_s=TIMEOUT_S, **parameters):
    """The model's answer to ``prompt`` as text, at most ``max_tokens`` long. ``system`` is said to the model before it.

    ``parameters`` are those of ``chat``. Raises ``GatewayUnavailable``.
    """
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": prompt})
    answer = chat(messages, max_tokens=max_tokens, timeout_s=timeout_s, **parameters)
    try:
        text = answer["choices"][0]["message"]["content"]
    except (LookupError, TypeError) as problem:
        raise GatewayUnavailable("the answer has no message", "unreadable") from problem
    if not isinstance(text, str):
        raise GatewayUnavailable("the answer has no text", "unreadable")
    return text


def chat(messages, max_tokens=400, model=MODEL, timeout_s=TIMEOUT_S, **parameters):
    """The whole answer to a chat (``choices``, ``usage`` ...), a dictionary. Raises ``GatewayUnavailable``.

    ``parameters``: ``temperature``, ``top_p``, ``seed``, ``stop``, ``response_format``, ``tools`` and the like.
    """
    request = {"model": model, "messages": messages, "max_tokens": max_tokens, **parameters}
    return _ask("POST", "/v1/chat/completions", request, timeout_s)


def models(timeout_s=TIMEOUT_S):
    """Names of the models that the gateway offers. Raises ``GatewayUnavailable``."""
    try:
        return [model["id"] for model in _ask("GET", "/v1/models", None, timeout_s)["data"]]
    except (LookupError, TypeError) as problem:
        raise GatewayUnavailable("the list of models cannot be read", "unreadable") from problem


def _ask(method, path, request, timeout_s):
    body = None if request is None else json.dumps(request).encode()
    connection = _Connection(SOCKET, timeout_s)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json", "Connection": "close"})
        response = connection.getresponse()
        status, data = response.status, response.read(LONGEST_ANSWER + 1)
    except TimeoutError as problem:
        raise GatewayUnavailable(f"no answer within {timeout_s:g} s", "timeout") from problem
    except (OSError, http.client.HTTPException) as problem:
        raise GatewayUnavailable(f"the gateway is not connected: {problem}", "not_connected") from problem
    finally:
        connection.close()
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise GatewayUnavailable(f"the answer (status {status}) is not readable", "unreadable", status) from problem
    if status != 200:
        error = answer.get("error") if isinstance(answer, dict) else None
        error = error if isinstance(error, dict) else {}
        raise GatewayUnavailable(str(error.get("message") or "refused"), str(error.get("code") or "refused"), status)
    if not isinstance(answer, dict):
        raise GatewayUnavailable("the answer is no object", "unreadable", status)
    return answer
