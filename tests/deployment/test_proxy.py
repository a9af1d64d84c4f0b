"""nginx as Debian ships it, with the configuration that is shipped, before the site as it is served (FC-37, FC-41)."""

from __future__ import annotations

import dataclasses
import http.client
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from fdegym import serve
from fdegym.body_limit import MOST_BYTES
from tests.deployment.conftest import need
from tests.e2e.stack import clean_environment, free_port
from tests.waiting import until
from workspaces.terminal.protocol import PING_EVERY_S

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "ops" / "proxy"

#: Tells what reached it, and keeps sockets open without a word.
ECHO_SITE = """
import json
async def application(scope, receive, send):
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            await send({"type": "websocket.send", "text": "heard"})
        return
    said = {name.decode(): value.decode() for name, value in scope["headers"]}
    said |= {"scheme": scope["scheme"], "client": scope["client"][0], "http": scope["http_version"]}
    await send({"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"max-age=60")]})
    await send({"type": "http.response.body", "body": json.dumps(said).encode()})
"""


class Proxy:
    """nginx in a directory of its own, before one site process that is served like the product's."""

    def __init__(self, directory: Path, settings: Any) -> None:
        self.directory, self.settings = directory, settings
        self.port, self.plain_port, self.site_port = free_port(), free_port(), free_port()
        self.processes: list[subprocess.Popen[bytes]] = []
        (directory / "echo_site.py").write_text(ECHO_SITE)
        self._certify()

    def _certify(self) -> None:
        folder = self.directory / "tls"
        folder.mkdir()
        files = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
        subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        made = subprocess.run(["openssl", "req", "-x509", *kind, *files, *subject], capture_output=True, check=False)
        assert made.returncode == 0, made.stderr

    def configuration(self, **changes: str) -> None:
        """The shipped files with this place's paths and ports; ``changes``: a directive → its value instead."""
        text = (SHIPPED / "fdegym.conf").read_text()
        for ours, here in {
            "listen 443 ssl http2": f"listen 127.0.0.1:{self.port} ssl http2",
            "listen 80 ": f"listen 127.0.0.1:{self.plain_port} ",
            "/etc/fdegym/": f"{self.directory}/",
            "/var/cache/nginx": f"{self.directory}/cache",
            "/dev/stdout": f"{self.directory}/access.log",
        }.items():
            assert ours in text
            text = text.replace(ours, here)
        text = re.sub(r"^.*listen \[::\].*\n", "", text, flags=re.MULTILINE)  # a machine without IPv6 has none to offer
        for name, value in changes.items():
            text, count = re.subn(rf"{name} [^;]+;", f"{name} {value};", text)
            assert count
        (self.directory / "fdegym.conf").write_text(text)
        upstream = (SHIPPED / "upstream.conf").read_text()
        assert "127.0.0.1:8000" in upstream
        (self.directory / "upstream.conf").write_text(upstream.replace("127.0.0.1:8000", f"127.0.0.1:{self.site_port}"))
        main = (SHIPPED / "nginx.conf").read_text().replace("/tmp/", f"{self.directory}/")
        (self.directory / "nginx.conf").write_text(main.replace("/etc/fdegym/", f"{self.directory}/"))
        (self.directory / "cache").mkdir(exist_ok=True)

    def start(self, **changes: str) -> None:
        self.configuration(**changes)
        command = ["nginx", "-c", str(self.directory / "nginx.conf"), "-g", "daemon off; error_log stderr;"]
        tested = subprocess.run([*command, "-t"], env=self._path(), capture_output=True, text=True, check=False)
        assert tested.returncode == 0, tested.stderr
        assert "[warn]" not in tested.stderr, tested.stderr
        self._run(command, self._path())
        until(lambda: self.page("/proxy-health")[0] == 200, "the proxy answers")

    def serve(self, *options: str) -> subprocess.Popen[bytes]:
        """The site behind it; ``options`` of uvicorn's instead of the product's own."""
        environment = dataclasses.replace(self.settings.ENVIRONMENT, port=self.site_port, proxies=("127.0.0.1",))
        line = [
            {"fdegym.asgi:application": "echo_site:application"}.get(part, part) for part in serve.command(environment)
        ]
        path = f"{self.directory}:{ROOT}:{ROOT / 'platform'}"
        process = self._run([sys.executable, *line, *options], clean_environment(PYTHONPATH=path))
        until(lambda: self.page("/")[0] == 200, "the site answers through the proxy", within_s=60)
        return process

    def _path(self) -> dict[str, str]:
        return {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}

    def _run(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        with (self.directory / "log").open("ab") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        self.processes.append(process)
        return process

    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.directory / "tls" / "fullchain.pem"))

    def page(self, path: str, method: str = "GET", **headers: str) -> tuple[int, str, dict[str, str]]:
        """Status, text and headers; (0, …) when nobody answers."""
        line = http.client.HTTPSConnection("localhost", self.port, context=self.trust(), timeout=60)
        try:
            line.request(method, path, headers=headers)
            reply = line.getresponse()
            return reply.status, reply.read().decode(), {name.lower(): value for name, value in reply.getheaders()}
        except OSError as problem:
            return 0, str(problem), {}
        finally:
            line.close()

    def socket(self) -> Any:
        return connect(f"wss://localhost:{self.port}/ws/", ssl=self.trust(), ping_interval=None, open_timeout=60)

    def remove(self) -> None:
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


@pytest.fixture
def proxy(settings: Any, tmp_path: Path) -> Iterator[Proxy]:
    found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    need(found, "nginx (Debian: nginx-light)")
    need(shutil.which("openssl"), "openssl")
    made = Proxy(tmp_path, settings)
    yield made
    made.remove()


def until_closed(line: Any, after_s: float) -> int | None:
    """The code with which the socket was closed within so many seconds of silence; None while it is open."""
    try:
        line.recv(timeout=after_s)
    except TimeoutError:
        return None
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 1006
    return None


def test_a_page_comes_through_as_the_visitor_asked_for_it(proxy: Proxy) -> None:
    proxy.start()
    proxy.serve()
    status, text, _ = proxy.page("/runs/", **{"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "http"})
    assert status == 200
    for expected in ('"scheme": "https"', '"host": "localhost"', '"client": "127.0.0.1"', '"http": "1.1"'):
        assert expected in text, text
    assert "6.6.6.6" not in text, "who claims to be somebody else is believed"
    for hidden in ("/metrics/", "/ready/"):
        assert proxy.page(hidden)[0] == 404
    assert proxy.page("/", "POST", **{"Content-Length": str(131 * 2**20)})[0] == 413
    plain = http.client.HTTPConnection("127.0.0.1", proxy.plain_port, timeout=60)
    plain.request("GET", "/runs/?page=2", headers={"Host": "gym.example.org"})
    redirected = plain.getresponse()
    plain.close()
    assert (redirected.status, redirected.getheader("location")) == (308, "https://gym.example.org/runs/?page=2")
    first, second = (proxy.page("/static/a.js")[1] for _ in range(2))
    assert first == second
    said = (proxy.directory / "access.log").read_text()
    assert "/runs/" in said
    assert "page=2" not in said, "a socket's ticket would stand in the log"


def test_an_idle_socket_outlives_the_proxys_patience_because_the_site_pings(proxy: Proxy) -> None:
    """FC-37: with every time a twentieth of what is shipped, and against the proof that patience alone would end it."""
    proxy.start(proxy_read_timeout="3s", proxy_send_timeout="3s")
    process = proxy.serve("--ws-ping-interval", "1")
    with proxy.socket() as line:
        assert until_closed(line, 7) is None
        line.send("still there?")
        assert line.recv(timeout=60) == "heard"
    process.terminate()
    process.wait(60)
    proxy.serve("--ws-ping-interval", "60")
    with proxy.socket() as line:
        assert until_closed(line, 60) == 1006, "the proxy's patience ends nothing, so the test above shows nothing"


def test_the_shipped_patience_bears_a_ping_that_is_lost() -> None:
    text = (SHIPPED / "fdegym.conf").read_text()
    sockets = text[text.index("location /ws/") :]
    patience_s = min(
        int(found) for found in re.findall(r"proxy_(?:read|send)_timeout (\d+)s", sockets[: sockets.index("}")])
    )
    pings = [PING_EVERY_S, 20.0]  # the terminal's own, and uvicorn's of every socket
    assert patience_s >= 2 * max(pings) + 20
    assert int(re.search(r"client_max_body_size (\d+)m", text)[1]) << 20 > MOST_BYTES  # type: ignore[index]


def test_a_site_that_is_replaced_sends_its_sockets_back_and_visitors_are_told_to_wait(proxy: Proxy) -> None:
    """FC-41"""
    proxy.start()
    process = proxy.serve()
    with proxy.socket() as line:
        process.send_signal(signal.SIGTERM)
        assert until_closed(line, 60) == 1012
    process.wait(60)
    status, text, headers = proxy.page("/runs/")
    assert (status, headers["retry-after"]) == (503, "5")
    assert "back in a moment" in text
    proxy.serve()
    with proxy.socket() as line:
        line.send("back?")
        assert line.recv(timeout=60) == "heard"
