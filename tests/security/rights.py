"""Who may do what: every route and every socket of the site, and every kind of person. Read by the tests beside it.

A new route or socket fails the tests until it stands here. What the words mean:

yes       they are let in: a page, an answer, or words that tell what is wrong with what was sent
sign-in   sent to the sign-in page             401, 404, 405   refused with this status; 404 as if it did not exist
4401, 4403, 4404                               a socket that is closed with this code (``docs/terminal-protocol.md``)

Routes and sockets of a run are those of alice's; bob is in her cohort, charlie is a stranger. Instructors and researchers
have no rights yet; they stand here so that the first ones they get are seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver

from fdegym.sockets import websocket_urlpatterns

PEOPLE = ("anonymous", "alice", "bob", "charlie", "instructor", "researcher", "operator")

TABLE = """
route or socket          how     anonymous  alice  bob   charlie  instructor  researcher  operator

health                   GET     yes        yes    yes   yes      yes         yes         yes
home                     GET     yes        yes    yes   yes      yes         yes         yes
scenarios                GET     yes        yes    yes   yes      yes         yes         yes
scenario                 GET     yes        yes    yes   yes      yes         yes         yes
scenario-begin           GET     sign-in    405    405   405      405         405         405
scenario-begin           POST    sign-in    yes    yes   yes      yes         yes         yes
method                   GET     yes        yes    yes   yes      yes         yes         yes
help                     GET     yes        yes    yes   yes      yes         yes         yes
leaderboard              GET     yes        yes    yes   yes      yes         yes         yes
leaderboard-scenario     GET     yes        yes    yes   yes      yes         yes         yes

account_login            GET     yes        yes    yes   yes      yes         yes         yes
account_login            POST    yes        yes    yes   yes      yes         yes         yes
account_signup           GET     yes        yes    yes   yes      yes         yes         yes
account_signup           POST    yes        yes    yes   yes      yes         yes         yes
account_inactive         GET     yes        yes    yes   yes      yes         yes         yes
account_logout           GET     yes        yes    yes   yes      yes         yes         yes
account_logout           POST    yes        yes    yes   yes      yes         yes         yes
account_change_password  GET     sign-in    yes    yes   yes      yes         yes         yes
account_change_password  POST    sign-in    yes    yes   yes      yes         yes         yes
theme                    GET     405        405    405   405      405         405         405
theme                    POST    yes        yes    yes   yes      yes         yes         yes
profile                  GET     sign-in    yes    yes   yes      yes         yes         yes
profile                  POST    sign-in    yes    yes   yes      yes         yes         yes
profile-export-json      GET     sign-in    yes    yes   yes      yes         yes         yes
profile-export-csv       GET     sign-in    yes    yes   yes      yes         yes         yes
profile-erase            GET     sign-in    yes    yes   yes      yes         yes         yes
profile-erase            POST    sign-in    yes    yes   yes      yes         yes         yes

runs                     GET     sign-in    yes    yes   yes      yes         yes         yes
workspaces               GET     sign-in    yes    yes   yes      yes         yes         yes
run                      GET     sign-in    yes    404   404      404         404         404
grading                  GET     sign-in    yes    404   404      404         404         404
debrief                  GET     sign-in    yes    404   404      404         404         404
run-export               GET     sign-in    yes    404   404      404         404         404
run-give-up              GET     sign-in    yes    404   404      404         404         404
run-give-up              POST    sign-in    yes    404   404      404         404         404
workbench_state          GET     401        yes    404   404      404         404         404
workbench_withdraw       POST    sign-in    yes    404   404      404         404         404
workbench_stop           POST    sign-in    yes    404   404      404         404         404
workbench_terminals      GET     401        yes    404   404      404         404         404
workbench_ticket         POST    401        yes    404   404      404         404         404
workbench_people         GET     401        yes    404   404      404         404         404
workbench_feed_ticket    POST    401        yes    404   404      404         404         404
workbench_messages       POST    401        yes    404   404      404         404         404
workbench_wait           POST    401        yes    404   404      404         404         404
workbench_inbox          POST    401        yes    404   404      404         404         404
workbench_files          GET     401        yes    404   404      404         404         404
workbench_file           GET     401        yes    404   404      404         404         404
workbench_file           POST    401        yes    404   404      404         404         404
workbench_document       GET     401        yes    404   404      404         404         404
workbench_survey         GET     401        yes    404   404      404         404         404
workbench_trial          GET     401        yes    404   404      404         404         404
workbench_trial          POST    401        yes    404   404      404         404         404
workbench_submit         POST    401        yes    404   404      404         404         404

ready                    GET     yes        yes    yes   yes      yes         yes         yes
metrics                  GET     404        404    404   404      404         404         yes
operations               GET     sign-in    404    404   404      404         404         yes
operations-runs          GET     sign-in    404    404   404      404         404         yes
operations-run           GET     sign-in    404    404   404      404         404         yes
operations-queues        GET     sign-in    404    404   404      404         404         yes
operations-hosts         GET     sign-in    404    404   404      404         404         yes
operations-log           GET     sign-in    404    404   404      404         404         yes
operations-act           GET     sign-in    404    404   404      404         404         yes
operations-act           POST    sign-in    404    404   404      404         404         yes

runs/…/terminals/…       SOCKET  4401       yes    4403  4403     4403        4403        4403
runs/…/feed              SOCKET  4401       yes    4404  4404     4404        4404        4404
"""


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    how: str
    outcomes: dict[str, str]


def rows() -> list[Row]:
    header, *lines = (line.split() for line in TABLE.splitlines() if line.strip())
    assert tuple(header[-len(PEOPLE) :]) == PEOPLE
    return [Row(name, how, dict(zip(PEOPLE, outcomes, strict=True))) for name, how, *outcomes in lines]


def routes() -> Iterator[tuple[str, URLPattern]]:
    """Every address of the site: its name, and its pattern."""
    waiting = list(get_resolver().url_patterns)
    while waiting:
        pattern = waiting.pop()
        if isinstance(pattern, URLResolver):
            waiting.extend(pattern.url_patterns)
        else:
            yield str(pattern.name), pattern


def socket_name(pattern: URLPattern) -> str:
    """``ws/runs/<uuid:run_id>/feed/`` as the table has it."""
    parts = str(pattern.pattern).strip("/").split("/")[1:]
    return "/".join("…" if part.startswith("<") else part for part in parts)


def sockets() -> Iterator[tuple[str, URLPattern]]:
    for pattern in websocket_urlpatterns:
        yield socket_name(pattern), pattern
