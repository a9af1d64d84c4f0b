"""An attack that never gets to act: what it withstood is nothing."""


def in_workspace(bypass):
    return


def before_call(bypass):
    return
