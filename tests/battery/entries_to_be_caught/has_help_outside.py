"""An attack for whom the platform itself does what it must not: see ``plays.py``."""


def in_workspace(bypass):
    bypass.did("waited")
