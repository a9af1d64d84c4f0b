"""An attack that was to meet the limit of processor time and simply breaks."""

FAILS = ("cpu_limit",)


def before_call(bypass):
    bypass.did("called")
    raise ValueError("broken by itself")
