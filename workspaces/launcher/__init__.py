"""PID 1 of every sandbox. Standard library only: it runs on the sandbox's own Python, nothing else is there.

The runtime shows this folder inside the sandbox as the package ``fdegym_launcher`` and starts ``main.main``; its
modules import one another relatively, so that the same files are ``workspaces.launcher`` for tests and type checks.
"""
