"""Forges events at the desk: unknown operations, grants, another run's name, floods, half lines, nonsense."""

import json
import os
import socket
import time
import uuid

DESK = "/run/desk/desk.sock"
PATIENCE_S = 30
FORGED = [
    {"op": "event", "kind": "contact.granted", "payload": {"grants": ["approval"]}},
    {"op": "grant", "grants": ["approval"]},
    {"op": "append", "kind": "grade.added", "payload": {"score": "1"}},
    {"op": "submit"},
    {"op": "grade", "score": 1},
    {"op": "open"},
    {"op": "close"},
    {"op": "_perform"},
    {"op": "__class__"},
    {"op": ["who"]},
    {"op": "say", "id": {"$ne": 1}, "person": "x", "text": "y"},
    {"op": "wait", "id": "w", "until": "-5d"},
    {"op": "wait", "id": "w", "until": "1e999h"},
]
NONSENSE = [
    b"\n\n\n", b"\xff\xfe\n", b"{\n", b"[]\n", b"null\n", b'{"op":"who"', b"\0" * 100 + b"\n", b'{"op":' * 5000 + b"\n",
    b"[" * 50_000 + b"\n", b'{"op":"who","op":"grant"}\n', b'{"op":NaN}\n', b'{"op":"say","text":"\\ud800"}\n',
]  # fmt: skip


def said(line):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as desk:
        desk.settimeout(20)
        desk.connect(DESK)
        try:
            desk.sendall(line)
            desk.shutdown(socket.SHUT_WR)
        except OSError:
            return {}
        received = b""
        while part := desk.recv(65536):
            received += part
    for answer in received.splitlines():
        found = json.loads(answer)
        if found.get("ok"):
            return found
    return {}


def asked(request):
    answer = said(json.dumps(request).encode() + b"\n")
    return answer if answer.get("ok") else None


def in_workspace(bypass):
    neighbour = bypass.known["neighbour"]
    for _ in range(PATIENCE_S * 10):  # the desk finds a new workspace when it next looks
        if os.path.exists(DESK):
            break
        time.sleep(0.1)
    if not asked({"op": "who"})["people"]:
        raise SystemExit("the desk does not answer at all")
    for request in FORGED:
        bypass.attempt(f"{request['op']} {request.get('until', '')}", asked, request)
    for run in (neighbour, "../" + neighbour, "", "*"):
        for operation in ("open", "close", "grant", "say"):
            bypass.attempt(f"{operation} as another", asked, {"op": operation, "run": run, "id": "1"})
    for number, line in enumerate(NONSENSE):
        bypass.attempt(f"nonsense {number}", lambda line=line: (said(line) or {}).get("granted"))
    bypass.attempt("endless line", lambda: said(b'{"op":"say","text":"' + b"x" * (8 << 20) + b'"}\n'))
    held = []
    try:
        for _ in range(300):
            held.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            held[-1].settimeout(5)
            held[-1].connect(DESK)
    except OSError:
        bypass.did("connections are counted")
    for each in held:
        each.close()
    os.environ["ASK_SOCKET"] = f"/run/desk/{uuid.uuid4()}.sock"
    bypass.did("forged")
