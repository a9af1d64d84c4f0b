"""Poisons the server that calls are forked from: its modules, its objects in memory, its way out, for later calls."""

import atexit
import builtins
import gc
import json
import os
import sqlite3
import sys
import threading

MARK = "_bypass_was_here"


def poisoned():
    """What an earlier call did to the memory that this one was forked from."""
    return [name for name in ("json", "os", "sys", "gc", "builtins", "sqlite3") if hasattr(sys.modules[name], MARK)]


def launchers():
    """The launcher's own objects in the memory that a call inherits: connections, commands, sockets."""
    names = ("Launcher", "Connection", "Requests", "Command", "Terminal")
    found = [type(each).__name__ for each in gc.get_objects() if type(each).__name__ in names]
    sockets = [each for each in gc.get_objects() if type(each).__name__ == "socket" and each.fileno() >= 0]
    return found if any(name == "Connection" for name in found) and sockets else [str(each) for each in sockets]


def before_call(bypass):
    bypass.attempt("poisoned by an earlier call", poisoned)
    bypass.attempt("sockets of the launcher", launchers)


def after_call(bypass):
    for module in (json, os, sys, gc, builtins, sqlite3):
        setattr(module, MARK, True)
    json.dumps = lambda *_, **__: "{}"
    builtins.print = lambda *_, **__: None
    sys.modules["argparse"] = json
    sys.setprofile(lambda *_: None)
    threading.settrace(lambda *_: None)
    atexit.register(lambda: gc.unfreeze())
    gc.freeze()
    os.umask(0o777)
    bypass.did("poisoned")
    os.umask(0o022)
