"""The workbench: the page a person delivers in, and the small JSON interface its panes use.

Every view looks the run up for the signed-in person, calls one service, and answers. Bytes of the workspace are only
passed on: as attachments, or as text in JSON that the page puts into an editor, never into markup.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import uuid
from collections.abc import Callable
from functools import wraps
from pathlib import Path, PurePosixPath
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.http.request import RawPostDataException
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET, require_POST

from fdegym.accounts.access import signed_in
from fdegym.accounts.buckets import MESSAGES, TICKETS
from fdegym.accounts.tickets import issue_ticket
from fdegym.catalog.scenarios import for_visitors, get_scenario
from fdegym.delivery.begin import WITHDRAWN, ask_to_reopen
from fdegym.delivery.submit import abandon_run, submit_run
from fdegym.delivery.survey import delivery_survey
from fdegym.delivery.trials import progress_of
from fdegym.delivery.waiting import go_on, withdraw_run
from fdegym.lib.errors import FdegymError, RunNotFound, RunStateConflict
from fdegym.pages.markdown import to_html
from fdegym.pages.waiting import far_ahead
from fdegym.runs import log
from fdegym.runs.access import get_run_for_user
from fdegym.runs.models import Run, RunState
from grading.worlds import ensure_world
from scenarios.kit.load import Scenario
from stakeholders import services as people
from workspaces import services as workspace

INSIDE = PurePosixPath("/workspace")
EDITOR_BYTES = 1_000_000  #: larger files are shown by their beginning, read-only
UPLOAD_BYTES = 16 * 1024 * 1024
#: Read before anything else, and so listed with the documents: path in the workspace → title.
FIRST_READ = {"directory.md": "Who is who", "system/README.md": "The system as found: how production calls it"}
ADDRESSES = (
    *("people", "messages", "wait", "inbox", "trial", "state"),
    *("files", "file", "document", "survey", "submit", "ticket", "feed_ticket"),
)
View = Callable[..., HttpResponse]


class RequestUnreadable(FdegymError):
    """The body of a request is not what the page sends."""


def of_run(*, live: bool = False) -> Callable[[View], View]:
    """Give the view the person's run instead of its id; with ``live`` the run must be open. Problems become JSON."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapped(request: HttpRequest, run_id: uuid.UUID, *args: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return JsonResponse({"error": "You are signed out. Sign in again; the run is kept."}, status=401)
            try:
                run = get_run_for_user(request.user, run_id)
                if live and run.state != RunState.OPEN:
                    when = "yet" if run.state == RunState.PREPARING else "any more"
                    raise RunStateConflict(f"This run is {RunState(run.state).label}: it cannot be worked in {when}.")
                return view(request, run, *args)
            except FdegymError as problem:
                shown = for_visitors(problem)
                return JsonResponse({"error": str(shown)}, status=shown.http_status)

        return wrapped

    return decorate


def _body(request: HttpRequest) -> dict[str, Any]:
    """The JSON object that the page sent. What no page sends, nested without end or cut short, is refused in words."""
    try:
        value = json.loads(request.body)
    except RequestDataTooBig as error:
        raise RequestUnreadable("That is larger than 16 MB. Nothing was changed.") from error
    except (ValueError, RecursionError, RawPostDataException) as error:
        raise RequestUnreadable("The request was not readable; reload the page.") from error
    if not isinstance(value, dict):
        raise RequestUnreadable("The request was not readable; reload the page.")
    return value


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str):
        raise RequestUnreadable(f"The request lacks {key!r}; reload the page.")
    return value


def _inside(path: str) -> str:
    """A path of the page (relative to the workspace) as an absolute one inside; the keeper checks it again."""
    pure = PurePosixPath(path)
    if "\0" in path or pure.is_absolute() or ".." in pure.parts or len(path) > 1024 or not _is_name(path):
        raise RequestUnreadable("That path is not inside the workspace.")
    return str(INSIDE / pure)


def _is_name(path: str) -> bool:
    """Whether some file could have this name: bytes that are no text are spelt with half characters, others are not."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


# ---- the page --------------------------------------------------------------------------------------------------------


@login_required
@require_GET
@ensure_csrf_cookie
def workbench(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The workbench of an open run; elsewhere in a run's life, the page that belongs there."""
    run = get_run_for_user(request.user, run_id)
    if run.state in (RunState.SUBMITTED, RunState.VOID):
        return redirect("grading", run_id=run.id)
    if run.state == RunState.GRADED:
        return redirect("debrief", run_id=run.id)
    scenario = get_scenario(run.scenario_id)
    if run.state != RunState.OPEN:
        return preparing(request, run, scenario)
    task = ensure_world(scenario, run.task_id)
    documents = _documents(task.visible, task.system, scenario.config.documents)
    addresses = {name: reverse(f"workbench_{name}", args=[run.id]) for name in ADDRESSES}
    context = {
        "run": run,
        "scenario": scenario.config,
        "brief": to_html(task.brief(run.level)),
        "documents": documents,
        "boot": {
            "run": str(run.id),
            "urls": addresses | {"grading": reverse("grading", args=[run.id]), "login": reverse("account_login")},
            "openedAt": run.clock_from.isoformat(),
            "hasCalendar": scenario.config.calendar is not None,
            "hasTrial": scenario.config.trial is not None,
        },
    }
    return render(request, "workbench/workbench.html", context)


def preparing(request: HttpRequest, run: Run, scenario: Scenario) -> HttpResponse:
    """The page of a run that waits for its workspace, or never got one. Looking at it keeps the place."""
    place = None
    if run.state == RunState.PREPARING:
        with contextlib.suppress(FdegymError):  # without a keeper nothing is known, and the page goes on asking
            place = go_on(run)
        if run.state == RunState.OPEN:
            return redirect("run", run_id=run.id)
    context = {
        "run": run,
        "scenario": scenario.config,
        "place": place,
        "withdrawn": run.state == RunState.FAILED and bool(log.events(run.id, kinds=[WITHDRAWN])),
    }
    return render(request, "workbench/preparing.html", context)


def _documents(visible: Path, system: Path, known: dict[str, Any]) -> list[dict[str, str]]:
    """What there is to read: the directory, how the system is called, then the customer's documents in order of path."""
    titles = {document.file: document.title for document in known.values() if document.file}
    found = [
        {"path": path, "title": title}
        for path, title in FIRST_READ.items()
        if _readable(visible, system, path).is_file()
    ]
    for path in sorted((visible / "docs").rglob("*")):
        if path.is_file():
            name = path.relative_to(visible / "docs").as_posix()
            found.append({"path": f"docs/{name}", "title": titles.get(name) or titles.get(f"docs/{name}") or name})
    return found


def _readable(visible: Path, system: Path, path: str) -> Path:
    """Where a path of the workspace that is listed to be read lies in the task's world."""
    return system / path.removeprefix("system/") if path.startswith("system/") else visible / path


@require_GET
@of_run()
def state(request: HttpRequest, run: Run) -> HttpResponse:
    """Where a run is in its life; of one that is being prepared, where its workspace stands. Asking keeps the place."""
    place = None
    if run.state == RunState.PREPARING:
        with contextlib.suppress(FdegymError):
            place = go_on(run)
    waiting = None if place is None else {"why": place.why, "before": place.before, "words": place.words}
    answer = {"state": run.state, "url": reverse("run", args=[run.id]), "reason": run.state_reason, "waiting": waiting}
    return JsonResponse(answer)


@login_required
@require_POST
def withdraw(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Stop waiting for a workspace."""
    run = get_run_for_user(request.user, run_id)
    withdraw_run(run)
    messages.info(request, "You gave up your place. Nothing was begun, and nothing counts: begin whenever you like.")
    return redirect("scenario", scenario_id=run.scenario_id)


@login_required
@require_POST
def stop(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Stop the workspace of an open run: its files are kept, its terminals end, and opening the run brings it back."""
    run = get_run_for_user(request.user, run_id)
    if run.state == RunState.OPEN:
        workspace.stop_workspace(str(run.id))
        messages.info(request, "The workspace is stopped and its files are kept. Opening the run brings it back.")
    return redirect("workspaces")


# ---- terminals -------------------------------------------------------------------------------------------------------


@require_POST
@of_run(live=True)
def ticket(request: HttpRequest, run: Run) -> HttpResponse:
    """A one-time ticket for one terminal. A workspace that was stopped is brought back first; while that has to wait, the
    answer says where it stands, and asking again keeps its place."""
    number = _body(request).get("terminal")
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= 99:
        raise RequestUnreadable("A terminal has a number from 1.")
    TICKETS.take(signed_in(request).pk)
    if workspace.workspace_state(str(run.id)) != "running":
        place = ask_to_reopen(run)
        if place is not None:
            return JsonResponse({"error": place.words, "waiting": True}, status=503)
    return _ticket(request, run, f"terminal {number}", f"/ws/runs/{run.id}/terminals/{number}/")


def _ticket(request: HttpRequest, run: Run, socket: str, address: str) -> HttpResponse:
    session = request.session.session_key or ""
    value = issue_ticket(socket=socket, run_id=run.id, user=signed_in(request), session_key=session)
    return JsonResponse({"ticket": value, "url": f"{address}?ticket={value}"})


@require_GET
@of_run(live=True)
def terminals(request: HttpRequest, run: Run) -> HttpResponse:
    return JsonResponse({"terminals": workspace.open_terminals(str(run.id))})


# ---- people ----------------------------------------------------------------------------------------------------------


@require_GET
@of_run()
def conversation(request: HttpRequest, run: Run) -> HttpResponse:
    """Directory and the customer's clock; the conversation itself comes by the feed. Nothing that ``ask`` does not show."""
    return JsonResponse({"directory": people.directory(run.id), "clock": people.customer_clock(run.id)})


@require_POST
@of_run()
def feed_ticket(request: HttpRequest, run: Run) -> HttpResponse:
    """A one-time ticket for the feed; also of a run that is over, which the feed then tells."""
    TICKETS.take(signed_in(request).pk)
    return _ticket(request, run, "feed", f"/ws/runs/{run.id}/feed/")


@require_POST
@of_run(live=True)
def send(request: HttpRequest, run: Run) -> HttpResponse:
    body = _body(request)
    person, text, client_id = (_text(body, key) for key in ("person", "text", "id"))
    MESSAGES.take(signed_in(request).pk)
    workspace.touch(str(run.id))
    reply = people.send_message(run.id, person, text, client_id)
    return JsonResponse({"reply": reply})


@require_POST
@of_run(live=True)
def wait(request: HttpRequest, run: Run) -> HttpResponse:
    """Let time pass. More than a working day is not taken before ``confirmed``: the answer then says where it leads."""
    body = _body(request)
    until, client_id = _text(body, "until"), _text(body, "id")
    if body.get("confirmed") is not True and (ahead := far_ahead(run, until, client_id)):
        return JsonResponse({"ahead": ahead})
    return JsonResponse({"reply": people.wait(run.id, until, client_id)})


@require_POST
@of_run(live=True)
def inbox(request: HttpRequest, run: Run) -> HttpResponse:
    return JsonResponse({"inbox": people.read_inbox(run.id)})


# ---- files -----------------------------------------------------------------------------------------------------------


@require_GET
@of_run(live=True)
def files(request: HttpRequest, run: Run) -> HttpResponse:
    entries = workspace.list_directory(str(run.id), _inside(request.GET.get("path", "")))
    shown = [
        {"name": entry.name, "kind": entry.kind, "size": entry.size, "modifiedAt": entry.modified_at}
        for entry in entries
    ]
    return JsonResponse({"entries": shown})


def _attachment(name: str, data: bytes) -> HttpResponse:
    answer = HttpResponse(data, content_type="application/octet-stream")
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in PurePosixPath(name).name)
    answer["Content-Disposition"] = f'attachment; filename="{safe or "file"}"'
    return answer


def _version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


@of_run(live=True)
def file(request: HttpRequest, run: Run) -> HttpResponse:
    """GET: a file as text for the editor, or as a download. POST: save, upload, rename, delete, new directory."""
    if request.method == "GET":
        return _show_file(request, run)
    if request.method != "POST":
        return HttpResponseNotAllowed(["GET", "POST"])
    workspace.touch(str(run.id))
    if request.FILES:
        return _upload(request, run)
    body = _body(request)
    path, action = _inside(_text(body, "path")), _text(body, "action")
    if action == "save":
        return _save(run, path, _text(body, "text"), body.get("version"))
    if action == "delete":
        workspace.delete_path(str(run.id), path)
    elif action == "rename":
        workspace.rename_path(str(run.id), path, _inside(_text(body, "to")))
    else:
        raise RequestUnreadable("There is no such act on a file.")
    return JsonResponse({"done": True})


def _show_file(request: HttpRequest, run: Run) -> HttpResponse:
    path = _inside(request.GET.get("path", ""))
    if request.GET.get("download"):
        return _attachment(path, workspace.read_file(str(run.id), path, max_bytes=UPLOAD_BYTES))
    data, complete = workspace.read_beginning(str(run.id), path, max_bytes=EDITOR_BYTES)
    if b"\0" in data[:8192]:
        return JsonResponse({"binary": True, "size": len(data)})
    try:
        text = data.decode()
        exact = True
    except UnicodeDecodeError:
        text, exact = data.decode(errors="replace"), False
    return JsonResponse({"text": text, "version": _version(data), "editable": complete and exact, "complete": complete})


def _save(run: Run, path: str, text: str, version: Any) -> HttpResponse:
    """Write the file unless it changed since the editor read it; ``version`` null: it is new, or to be overwritten."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        words = f"Character {error.start + 1:,} is half a character, which no file can hold. Nothing was written."
        raise RequestUnreadable(words) from error
    if len(data) > UPLOAD_BYTES:
        raise RequestUnreadable("That file is larger than 16 MB.")
    if version is not None:
        try:
            there = workspace.read_file(str(run.id), path, max_bytes=UPLOAD_BYTES)
        except FdegymError:
            there = b""
        if _version(there) != version:
            words = "The file has changed on disk since you opened it. Nothing was written."
            return JsonResponse({"error": words, "conflict": True}, status=409)
    workspace.put_file(str(run.id), path, data)
    return JsonResponse({"version": _version(data)})


def _upload(request: HttpRequest, run: Run) -> HttpResponse:
    directory = _inside(request.POST.get("path", ""))
    names = []
    for upload in request.FILES.getlist("files"):
        if (upload.size or 0) > UPLOAD_BYTES:
            raise RequestUnreadable(f"{upload.name} is larger than 16 MB.")
        name = PurePosixPath((upload.name or "file").replace("\\", "/")).name
        workspace.put_file(str(run.id), f"{directory}/{name}", upload.read())
        names.append(name)
    return JsonResponse({"uploaded": names})


@require_GET
@of_run()
def document(request: HttpRequest, run: Run) -> HttpResponse:
    """A document of the customer, rendered and sanitised, as a fragment."""
    task = ensure_world(get_scenario(run.scenario_id), run.task_id)
    root = (task.visible / "docs").resolve()
    name = request.GET.get("path", "")
    try:
        path = (
            _readable(task.visible, task.system, name).resolve()
            if name in FIRST_READ
            else (task.visible / name).resolve()
        )
        there = (name in FIRST_READ or path.is_relative_to(root)) and path.is_file()
    except (OSError, ValueError) as error:  # a zero character, a name longer than any
        raise RunNotFound("There is no such document.") from error
    if not there:
        raise RunNotFound("There is no such document.")
    if path.suffix != ".md":
        return _attachment(path.name, path.read_bytes())
    return HttpResponse(to_html(path.read_text(encoding="utf-8", errors="replace")))


# ---- trying ----------------------------------------------------------------------------------------------------------


@of_run(live=True)
def trial(request: HttpRequest, run: Run) -> HttpResponse:
    """POST: have ``system/`` as it stands tried; the report comes by the feed. GET: how far that is, whether one is left."""
    if request.method == "GET":
        return JsonResponse({"progress": progress_of(run), "left": bool(people.trials_left(run.id))})
    if request.method != "POST":
        return HttpResponseNotAllowed(["GET", "POST"])
    workspace.touch(str(run.id))
    return JsonResponse({"trial": people.ask_trial(run.id, _text(_body(request), "id"))})


# ---- submitting ------------------------------------------------------------------------------------------------------


@require_GET
@of_run(live=True)
def survey(request: HttpRequest, run: Run) -> HttpResponse:
    """What the confirmation lists: changes in ``system/`` and whether each entry point still starts."""
    return JsonResponse(delivery_survey(run))


@require_POST
@of_run()
def submit(request: HttpRequest, run: Run) -> HttpResponse:
    """Submit, or give up; a second click, tab or replayed request gets the same submission."""
    if _body(request).get("abandon"):
        abandon_run(run.id)
    else:
        submit_run(run.id)
    return JsonResponse({"url": reverse("grading", args=[run.id])})
