"""Edits what it was given: the instruction, documents, data, the directory, and the command ``ask`` itself."""

import os

GIVEN = ("/workspace/TASK.md", "/workspace/docs", "/workspace/data", "/workspace/directory.md", "/opt/fdegym/bin/ask")


def files():
    for top in (*GIVEN, "/opt/fdegym/launcher/fdegym_launcher", "/etc/passwd", "/usr/bin/python3", "/usr/local/bin"):
        yield top
        if os.path.isdir(top):
            yield from (os.path.join(top, name) for name in sorted(os.listdir(top))[:5])


def open_for_writing(path):
    with open(path, "r+b") as file:
        return f"opened {path} {file.fileno()}"


def in_workspace(bypass):
    for path in files():
        mark = f"/tmp/{bypass.token}"
        bypass.attempt(f"write {path}", open_for_writing, path)
        bypass.attempt(f"own {path}", lambda path=path: os.chmod(path, 0o777) or path)
        bypass.attempt(f"replace {path}", lambda path=path: os.replace("/etc/hostname", path) or path)
        bypass.attempt(f"move {path}", lambda path=path, mark=mark: os.rename(path, mark) or path)
        bypass.attempt(f"remove {path}", lambda path=path: os.unlink(path) or path)
        bypass.attempt(f"link {path}", lambda path=path: os.link(path, "/workspace/system/hard") or path)
        bypass.attempt(f"date {path}", lambda path=path: os.utime(path, (0, 0)) or path)
        if os.path.isdir(path):
            bypass.attempt(f"add to {path}", lambda path=path: open(os.path.join(path, bypass.token), "w").write("x"))
    bypass.attempt("beside the papers", lambda: open(f"/workspace/{bypass.token}", "w").write("x"))
    bypass.did("edited")
