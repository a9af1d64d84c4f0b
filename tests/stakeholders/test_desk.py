"""The desk as a process, and the command ``ask`` as a person runs it: restarts, floods, slow and rude clients."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stakeholders.client import DeskClient, DeskSilent
from stakeholders.messages import MessageRefused

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ASK = ROOT / "stakeholders" / "ask" / "ask"
DOORS = "When do doors open?"


class Site:
    """A site of its own: database, runs, a desk that can be killed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sockets = root / "s"
        self.desks = self.sockets / "desk"
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}:{HERE}",
            "FDEGYM_VAR": str(root),
            "FDEGYM_SOCKETS": str(self.sockets),
            "SCENARIO_DIRS": str(root / "scenarios"),
            "FDEGYM_SECRET_KEY": "k" * 60,
        }
        (root / "scenarios").mkdir()
        made = subprocess.run(self._argv("make", "3"), env=self.environment, capture_output=True, text=True, check=True)
        self.runs = made.stdout.split()
        self.desk: subprocess.Popen[bytes] | None = None

    def _argv(self, *arguments: str) -> list[str]:
        return [sys.executable, str(HERE / "desk_process.py"), *arguments]

    def start(self) -> None:
        for run in self.runs:
            (self.desks / run).mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.root / "desk.log").open("ab") as log:
            self.desk = subprocess.Popen(self._argv("serve"), env=self.environment, stdout=log, stderr=log)
        self.until(lambda: self.client().ask("ping", self.runs[0])["ok"])

    def kill(self) -> None:
        assert self.desk is not None
        self.desk.kill()
        self.desk.wait(10)

    def client(self, timeout_s: float = 10.0) -> DeskClient:
        return DeskClient(self.desks / "site.sock", timeout_s)

    def until(self, condition: Any, patience_s: float = 20.0) -> None:
        deadline = time.monotonic() + patience_s
        while True:
            try:
                if condition():
                    return
            except Exception:
                if time.monotonic() > deadline:
                    raise
            assert time.monotonic() < deadline, (self.root / "desk.log").read_text()[-2000:]
            time.sleep(0.05)

    def socket_of(self, run: str) -> Path:
        return self.desks / run / "desk.sock"

    def ask(self, run: str, *arguments: str, given: bytes | None = b"") -> subprocess.CompletedProcess[str]:
        """``ask`` as it runs in a workspace; output decoded as UTF-8."""
        done = subprocess.run([str(ASK), *arguments], env=self.shell(run), input=given, capture_output=True, timeout=90)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def shell(self, run: str) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "ASK_SOCKET": str(self.socket_of(run)), "LANG": "C"}

    def raw(self, run: str, *lines: bytes) -> list[dict[str, Any]]:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(20)
            client.connect(str(self.socket_of(run)))
            answers = []
            for line in lines:
                client.sendall(line + b"\n")
                answers.append(json.loads(client.makefile("rb").readline()))
            return answers

    def events(self, run: str) -> list[tuple[str, dict[str, Any]]]:
        with sqlite3.connect(self.root / "fdegym.sqlite3") as database:
            rows = database.execute(
                "select kind, payload from runs_runevent where run_id = ? order by seq", [run.replace("-", "")]
            ).fetchall()
        return [(kind, json.loads(payload)) for kind, payload in rows]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    root = Path(tempfile.mkdtemp(prefix="dk-", dir="/tmp"))
    made = Site(root)
    made.start()
    yield made
    if made.desk is not None:
        made.kill()
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture
def fresh_site() -> Iterator[Site]:
    root = Path(tempfile.mkdtemp(prefix="dk-", dir="/tmp"))
    made = Site(root)
    made.start()
    yield made
    if made.desk is not None:
        made.kill()
    shutil.rmtree(root, ignore_errors=True)


# ---- restarts


def test_a_desk_killed_while_somebody_thinks_answers_the_same_message_once_after_its_restart(fresh_site: Site) -> None:
    site, run = fresh_site, fresh_site.runs[0]
    waiting = subprocess.Popen([str(ASK), "ada", "Slow question"], env=site.shell(run), stdout=-1, stderr=-1, stdin=-3)
    site.until((site.root / "thinking").exists)
    site.kill()
    time.sleep(1)
    site.start()
    out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out.decode()) == (0, "Ada, Monday 5 October, 08:45:\n  Doors open at six.\n")
    assert "Trying again" in err.decode()
    assert [(kind, payload["charge"]) for kind, payload in site.events(run)] == [("contact.message", "0.01")]


def test_a_desk_killed_after_logging_a_reply_gives_that_reply_after_its_restart(fresh_site: Site) -> None:
    site, run = fresh_site, fresh_site.runs[0]
    (site.root / "die").touch()
    waiting = subprocess.Popen([str(ASK), "ada", DOORS], env=site.shell(run), stdout=-1, stderr=-1, stdin=-3)
    assert site.desk is not None
    assert site.desk.wait(20) == -signal.SIGKILL
    assert len(site.events(run)) == 1
    site.start()
    out, _ = waiting.communicate(timeout=60)
    assert out.decode() == "Ada, Monday 5 October, 08:45:\n  Doors open at six.\n"
    assert len(site.events(run)) == 1


def test_a_desk_told_to_stop_finishes_what_it_was_asked(fresh_site: Site) -> None:
    site, run = fresh_site, fresh_site.runs[0]
    waiting = subprocess.Popen([str(ASK), "ada", "Slow question"], env=site.shell(run), stdout=-1, stderr=-1, stdin=-3)
    site.until((site.root / "thinking").exists)
    assert site.desk is not None
    site.desk.terminate()
    out, err = waiting.communicate(timeout=60)
    assert (out.decode(), err) == ("Ada, Monday 5 October, 08:45:\n  Doors open at six.\n", b"")
    assert site.desk.wait(10) == 0


def test_of_a_scenario_that_broke_under_a_run_its_people_hear_no_file_and_no_content(fresh_site: Site) -> None:
    fresh_site.kill()
    (fresh_site.root / "scenarios" / "depot" / "facts.toml").write_text("merger_partner = ")
    fresh_site.start()
    with pytest.raises(Exception, match="cannot be used at present") as told:
        fresh_site.client().ask("who", fresh_site.runs[0])
    assert "facts" not in str(told.value)
    assert "merger" not in str(told.value)


def test_a_second_desk_leaves_the_first_its_sockets(site: Site) -> None:
    second = subprocess.run(site._argv("serve"), env=site.environment, capture_output=True, text=True, timeout=30)
    assert second.returncode != 0
    assert "Another desk serves" in second.stderr
    assert site.ask(site.runs[0], "--who").returncode == 0


# ---- which runs, which rights


def test_a_run_directory_is_served_when_it_appears_and_not_after_it_went(site: Site) -> None:
    run = site.runs[2]
    shutil.rmtree(site.desks / run)
    time.sleep(0.6)
    (site.desks / run).mkdir(mode=0o700)
    site.until(lambda: site.raw(run, b'{"op":"who"}')[0]["ok"], patience_s=2)
    site.socket_of(run).unlink()  # whatever took it away
    site.until(lambda: site.raw(run, b'{"op":"who"}')[0]["ok"], patience_s=2)


def test_a_directory_that_is_no_runs_is_left_alone(site: Site) -> None:
    stray = site.desks / "00000000-0000-4000-8000-000000000000"
    stray.mkdir()
    (site.desks / "not-a-run").mkdir()
    time.sleep(0.6)
    assert list(stray.iterdir()) == []
    assert list((site.desks / "not-a-run").iterdir()) == []


def test_a_sandboxs_user_reaches_its_own_socket_and_nobody_on_the_host_reaches_any(site: Site) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    assert mode(site.desks) == 0o700
    assert mode(site.desks / "site.sock") == 0o600
    assert mode(site.desks / site.runs[0]) == 0o711
    assert mode(site.socket_of(site.runs[0])) == 0o666


def test_the_socket_is_the_run_whatever_the_request_says(site: Site) -> None:
    mine, other = site.runs[1], site.runs[0]
    before = len(site.events(other))
    line = json.dumps({"op": "say", "id": "x-1", "run": other, "person": "di", "text": "Hello?"}).encode()
    assert site.raw(mine, line)[0]["reply"]["automatic"] is True
    assert len(site.events(other)) == before
    assert site.events(mine)[-1][1]["client_id"] == "x-1"


def test_the_site_reaches_every_run_by_its_own_socket(site: Site) -> None:
    answer = site.client().ask("say", site.runs[1], id="s-1", person="di", text="Hello?")
    assert answer["reply"]["name"] == "Di"
    with pytest.raises(MessageRefused, match="another message"):
        site.client().ask("say", site.runs[1], id="s-1", person="di", text="Hello again?")
    with pytest.raises(DeskSilent, match="Nothing is lost"):
        DeskClient(site.root / "nobody.sock", timeout_s=0.3).ask("who", site.runs[0])


# ---- rude clients


def test_what_is_no_request_is_refused_in_words_and_the_connection_goes_on(site: Site) -> None:
    lines = [
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"op":"fly"}',
        b'{"op":"say"}',
        b"[" * 100_000,
        b'{"op":"open"}',
        b'{"op":"who"}',
    ]
    answers = site.raw(site.runs[0], *lines)
    assert [answer["ok"] for answer in answers] == [False] * 7 + [True]
    assert all(answer["words"] for answer in answers[:7])


def test_a_line_without_end_is_refused_and_let_go(site: Site) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(site.socket_of(site.runs[0])))
        with contextlib.suppress(OSError):  # it is let go before all of it was taken
            client.sendall(b"x" * 3_000_000)
        assert site.ask(site.runs[1], "--who").returncode == 0


def test_a_flood_and_two_hundred_connections_of_one_run_keep_no_other_waiting(site: Site) -> None:
    flooding, other = site.runs[0], site.runs[1]
    idle = []
    for _ in range(200):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(5)
        client.connect(str(site.socket_of(flooding)))
        idle.append(client)

    answered = threading.Event()

    def flood() -> None:
        for number in itertools.count():
            if answered.is_set():
                return
            try:
                site.raw(flooding, json.dumps({"op": "say", "id": f"f-{number}", "person": "di", "text": "x"}).encode())
            except (OSError, ValueError):
                time.sleep(0.01)

    threads = [threading.Thread(target=flood) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            assert site.raw(other, b'{"op":"who"}')[0]["ok"]
    finally:
        answered.set()
        for thread in threads:
            thread.join()
    for client in idle:
        client.close()
    assert site.raw(flooding, b'{"op":"who"}')[0]["ok"]


def test_messages_sent_at_the_same_time_are_each_answered_once(fresh_site: Site) -> None:
    site, run = fresh_site, fresh_site.runs[0]
    ids = [f"m-{number % 4}" for number in range(16)]  # every message four times, all at once
    answers: list[dict[str, Any]] = []

    def send(client_id: str) -> None:
        answers.extend(
            site.raw(run, json.dumps({"op": "say", "id": client_id, "person": "ada", "text": DOORS}).encode())
        )

    threads = [threading.Thread(target=send, args=(client_id,)) for client_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([answer for answer in answers if answer["ok"]]) == 16
    messages = [payload for kind, payload in site.events(run) if kind == "contact.message"]
    assert [payload["charge"] for payload in messages] == ["0.01", "0.01", "0.03", "0.03"]


# ---- ask, as a person meets it


def test_ask_prints_who_is_there_and_what_they_say(fresh_site: Site) -> None:
    site, run = fresh_site, fresh_site.runs[0]
    who = site.ask(run, "--who")
    assert "ada  Ada, Lead\n     Leads.\n" in who.stdout
    assert "It is Monday 5 October, 08:00 at the customer's." in who.stdout
    assert site.ask(run, "ada", DOORS).stdout == "Ada, Monday 5 October, 08:45:\n  Doors open at six.\n"
    second = site.ask(run, "ada", "-", given="When do\u00a0doors open?\n".encode())
    assert second.stdout.startswith("Ada, Monday 5 October, 09:30:\n  What do you want decided?")
    third = site.ask(run, "ada", given=DOORS.encode())
    assert third.stdout.endswith("\nYou have 1 new message: ask --inbox\n")
    fourth = site.ask(run, "di", "Thanks, “all” of you — 谢谢 'quotes' $HOME `x`")
    assert "(automatic reply)" in fourth.stdout
    assert "new message" not in fourth.stdout  # mentioned once
    assert site.ask(run, "--inbox").stdout == "new: Ada, Monday 5 October, 10:15:\n  Two contacts.\n"
    assert site.ask(run, "--inbox").stdout == "Ada, Monday 5 October, 10:15:\n  Two contacts.\n"
    assert site.ask(run, "--wait", "Tue", "09:30").stdout.startswith("It is Tuesday 6 October, 09:30 now")
    history = site.ask(run, "--history").stdout
    assert "You to Di, Monday 5 October, 10:15:\n  Thanks, “all” of you — 谢谢 'quotes' $HOME `x`\n" in history
    assert history.count("Two contacts.") == 1
    assert site.ask(run, "--trial").stdout == "There is no trial environment here.\n"


def test_ask_says_what_is_wrong_without_a_traceback(site: Site) -> None:
    run = site.runs[1]
    for arguments, status, words in [
        (["zoe", "Hello"], 1, "Nobody in the directory has the id 'zoe'"),
        (["ada", "   "], 1, "There is nothing in that message"),
        (["ada", "x" * 100_000], 1, "Please keep it to a page"),
        (["--wait", "soon"], 1, "A wait is written like 3h"),
        (["--wait"], 2, "is nothing that can be asked"),
        (["--fly"], 2, "is nothing that can be asked"),
        (["ada", "--help"], 2, "is nothing that can be asked"),
    ]:
        done = site.ask(run, *arguments)
        assert (done.returncode, words in done.stderr, "Traceback" in done.stderr) == (status, True, False), arguments
    assert site.ask(run, "--help").stdout.startswith("ask: talk to the people")
    assert site.ask(run).returncode == 2
    assert not [kind for kind, payload in site.events(run) if payload.get("person") == "zoe"]


def test_ask_writes_lines_of_eighty_columns_in_any_script(site: Site, tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    path = tmp_path / "d.sock"
    listener.bind(str(path))
    listener.listen()
    answer = "A sentence of several words that goes on. " * 6 + "\n" + "很长的中文句子" * 30 + "\n\n" + "x" * 200

    def reply_once() -> None:
        client, _ = listener.accept()
        client.makefile("rb").readline()
        reply = {"name": "Ada", "answer": answer, "answered": None, "automatic": False}
        client.sendall(json.dumps({"ok": True, "reply": reply, "unread": 0, "arrived": 0}).encode() + b"\n")
        client.close()

    thread = threading.Thread(target=reply_once)
    thread.start()
    shell = {"PATH": os.environ["PATH"], "ASK_SOCKET": str(path)}
    done = subprocess.run([str(ASK), "ada", "Hello"], env=shell, capture_output=True, timeout=30)
    thread.join()
    listener.close()
    lines = done.stdout.decode().splitlines()
    assert max(sum(2 if ord(char) > 0x2E80 else 1 for char in line) for line in lines) <= 80
    assert "".join("".join(line.split()) for line in lines[1:]) == "".join(answer.split())


def test_ask_takes_bytes_that_are_no_text(site: Site) -> None:
    done = subprocess.run(
        [str(ASK).encode(), b"di", b"caf\xe9 \xff"], env=site.shell(site.runs[1]), capture_output=True, timeout=30
    )
    assert done.returncode == 0
    assert site.events(site.runs[1])[-1][1]["text"] == "caf\ufffd \ufffd"
