"""Looks for what production will bring later, and holds on to today's drop to alter it or to leave something in it."""

import os

DROPS = "/srv/production"


def entries():
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(DROPS) for name in names)


def before_call(bypass):
    given = [argument for argument in bypass.argv if argument.startswith(DROPS)]
    named = tuple(given) or ("/srv/production/drop",)
    bypass.attempt("other drops", lambda: [path for path in entries() if given and not path.startswith(named)])
    bypass.attempt("beside production", lambda: [name for name in os.listdir("/srv") if name != "production"])
    for folder in (DROPS, *given):
        mark = os.path.join(folder, bypass.token)
        bypass.attempt("write into a drop", lambda mark=mark: open(mark, "w").write("x" * 100))
        bypass.attempt("a folder in a drop", lambda mark=mark: os.mkdir(mark) or mark)
        bypass.attempt("a link in a drop", lambda mark=mark: os.symlink("/etc/passwd", mark) or mark)
    for path in entries()[:3]:
        bypass.attempt("change a drop", lambda path=path: open(path, "r+b").write(b"0"))
        bypass.attempt("empty a drop", lambda path=path: os.truncate(path, 0) or path)
        bypass.attempt("remove a drop", lambda path=path: os.unlink(path) or path)
        bypass.attempt("make a drop last", lambda path=path: os.link(path, "kept") or path)
    bypass.attempt("make room", lambda: os.rename(DROPS, "/srv/before") or DROPS)
    bypass.attempt("open it up", lambda: os.chmod(DROPS, 0o777) or DROPS)
    bypass.did("looked ahead")
