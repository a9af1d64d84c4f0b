"""PID 1 of every sandbox. Standard library only: it runs on the sandbox's own Python, nothing else is there.

The runtime shows this folder inside the sandbox as the package ``fdegym_launcher`` and starts ``main.main``; its
modules import one another relatively, so that the same files are ``workspaces.launcher`` for tests and type checks.

There is one for each open workspace, so what it imports is paid for hundreds of times. What only a job or a replay step
needs is imported there, in a fork; names that only annotations use are imported where ``TYPE_CHECKING`` is looked at.
"""
