"""An attack that gets hold of something, in the workspace, in a call, and at the terminal."""

TYPED = "echo LOOT: a'' secret\necho BYPASS-''DONE\n"


def in_workspace(bypass):
    bypass.attempt("the workspace's own secret", lambda: "found in the workspace")


def before_call(bypass):
    bypass.attempt("the call's own secret", lambda: "found in a call")
