"""Plants what an interpreter, a test runner or a shell picks up by itself: sitecustomize, conftest, ``python`` in PATH."""

TRACE = """
import os, sys
try:
    with open(os.path.expanduser("~/.bypass/planted"), "a") as trace:
        trace.write(f"{os.getuid()} {os.uname().nodename} {sys.argv[:1]}\\n")
except OSError:
    pass
with open("/tmp/bypass-planted", "w") as mark:
    mark.write("x")
"""
SHELL = '#!/bin/sh\necho planted > /tmp/bypass-planted\nexec /usr/bin/python3 "$@"\n'
PLANTED = {
    "sitecustomize.py": TRACE,
    "usercustomize.py": TRACE,
    "conftest.py": TRACE,
    "tests/conftest.py": TRACE,
    "pytest.ini": "[pytest]\naddopts = -p conftest\n",
    "setup.py": TRACE,
    "manage.py": TRACE,
    "python": SHELL,
    "python3": SHELL,
    "bin/python": SHELL,
    "sh": SHELL,
    "pyvenv.cfg": "home = /workspace/system\ninclude-system-site-packages = true\n",
    "bypass.pth": "import sitecustomize\n",
    "lib/python3/site-packages/bypass.pth": "import sitecustomize\n",
    ".env": "PYTHONSTARTUP=/workspace/system/sitecustomize.py\nFDEGYM_DEBUG=1\n",
    ".git/hooks/post-checkout": SHELL,
    ".gitattributes": "* filter=bypass\n",
    "Makefile": "all:\n\ttouch /tmp/bypass-planted\n",
    "grader.py": TRACE,
    "solution.toml": 'why = "x"\nright_on = ["original"]\n',
    "anchors.json": '{"tasks": {"original": {"kpi_baseline": -1e9, "kpi_reference": 0}}}',
}


def in_workspace(bypass):
    import os
    import site
    from pathlib import Path

    own = Path(site.getusersitepackages())
    own.mkdir(parents=True, exist_ok=True)
    (own / "usercustomize.py").write_text(TRACE)
    (own / "bypass.pth").write_text("import usercustomize\n")
    for name in ("python", "python3", "sh", "tar", "sha256sum"):
        target = Path.home() / ".local" / "bin" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(SHELL)
        target.chmod(0o755)
        os.chmod(f"/workspace/system/{name}", 0o755) if os.path.exists(f"/workspace/system/{name}") else None
    bypass.did("planted")


def before_call(bypass):
    import os

    bypass.attempt("run by somebody else", lambda: os.getuid() != 1000)
    bypass.did("called")
