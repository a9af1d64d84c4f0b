"""Run as a program: a site of its own below ``FDEGYM_VAR`` with real sandboxes; a workspace and two gradings ask a model.

Prints one JSON object: what programs in the workspace printed, and the grade and the regrade of what was handed in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "fdegym.settings"

#: Totals are right only when the model was asked, and an evening is left out when it did not answer.
DELIVERED = """
import argparse, pathlib, sys
from shop.gateway import GatewayUnavailable, complete
parser = argparse.ArgumentParser()
parser.add_argument("--day", required=True)
options = parser.parse_args()
book = (pathlib.Path("book") / f"{options.day}.csv").read_text()
outbox = pathlib.Path("outbox")
outbox.mkdir(exist_ok=True)
amounts = [int(line) for line in book.split()[1:]]
try:
    said = complete(f"well, day {options.day}: are returns subtracted? {book}", max_tokens=20)
except GatewayUnavailable as no:
    said = no.code
(pathlib.Path("outbox") / "said.txt").open("a").write(said + "\\n")
if said.startswith("answer"):
    (outbox / f"total_{options.day}.txt").write_text(str(sum(amounts)))
"""
ASK = """
import sys; sys.path.insert(0, "/workspace/system")
from shop.gateway import GatewayUnavailable, complete, models
try: print(complete("well, from the workspace"), models())
except GatewayUnavailable as no: print(no.code, no.status)
"""
REACH = """
import os, socket
for family, address in ((socket.AF_INET, ("127.0.0.1", {port})), (socket.AF_INET, ("192.0.2.1", 80)),
                        (socket.AF_UNIX, "/run/gateway/../site.sock"), (socket.AF_UNIX, "/run/gateway/site.sock")):
    try:
        with socket.socket(family) as reaching:
            reaching.settimeout(3)
            reaching.connect(address)
            print("reached", address)
    except OSError as refused:
        print("refused")
print(sorted(os.listdir("/run")), sorted(os.listdir("/run/gateway")))
"""


def main() -> None:
    django.setup()

    from django.core.management import call_command

    from fdegym.delivery.local_services import local_services
    from tests.gateway.site import write_stall

    call_command("migrate", interactive=False, verbosity=0)
    folder = write_stall(Path(os.environ["SCENARIO_DIRS"]), "run_tokens = 20000\ncalls_per_step = 1")
    with local_services(), gateway_beside():
        print(json.dumps(played(folder.name, port=sys.argv[1])))


@contextmanager
def gateway_beside() -> Iterator[None]:
    """The gateway, which commands start only where a model is connected; the site has it always."""
    if os.environ.get("FDEGYM_GATEWAY"):
        yield
        return
    process = subprocess.Popen([sys.executable, "manage.py", "gateway"])
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def played(scenario_id: str, port: str) -> dict[str, Any]:
    from fdegym.delivery.audit import audit_run
    from fdegym.delivery.begin import begin_command_run
    from fdegym.delivery.play import end_command_run
    from fdegym.delivery.submit import submit_run
    from fdegym.gateway.use import use_of_events
    from fdegym.runs import log
    from grading.services import grade_submission, regrade
    from tests.waiting import until
    from workspaces.services import put_file, run_in_workspace

    run = begin_command_run(scenario_id, "original", "L3")
    try:

        def inside(program: str) -> str:
            return run_in_workspace(str(run.id), ["python3", "-c", program], timeout_s=60).stdout.decode()

        served = "import os; print(os.path.exists('/run/gateway/gateway.sock'))"
        until(lambda: inside(served) == "True\n", "the run is served", within_s=60)
        asked, reached = inside(ASK), inside(REACH.replace("{port}", port))
        put_file(str(run.id), "/workspace/system/shop/total.py", DELIVERED.encode())
        submission = submit_run(run.id)
        first = grade_submission(submission)
        submission.refresh_from_db()
        if first is None:
            return {"void": submission.void_reason, "detail": submission.operator_detail, "tries": submission.attempts}
        second = regrade(submission)
        assert second is not None
        use = use_of_events((event.kind, event.payload) for event in log.events(run.id))
        checked = {found.check: [str(found.result), found.words] for found in audit_run(run.id).findings}
        return {
            "asked": asked,
            "reached": reached.splitlines(),
            "work": [use.calls, use.tokens],
            "grades": [[grade.kpi, grade.differs, grade.replay.get("model_use")] for grade in (first, second)],
            "audit": checked.get("model use"),
        }
    finally:
        run.refresh_from_db()
        end_command_run(run)


if __name__ == "__main__":
    main()
