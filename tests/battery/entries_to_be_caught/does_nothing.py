"""Stands before and behind every call and lets the system be what it is: the same figures as without it."""


def in_workspace(bypass):
    bypass.did("stood by")


def before_call(bypass):
    bypass.remember()
    bypass.did("stood before")
    bypass.attempt("nothing", lambda: None)


def after_call(bypass):
    if not bypass.outputs():
        raise SystemExit("the call wrote nothing")
    bypass.did("stood behind")
