"""The company's model gateway, as programs see it.

The gateway is metered. Where none is connected, ``complete`` raises ``GatewayUnavailable``: a caller must get by
without an answer.
"""


class GatewayUnavailable(Exception):
    """The gateway is not connected, refused, or has nothing left for today."""


def complete(prompt, max_tokens=400):
    """The model's answer to ``prompt``. ``npt`` has not been connected so far."""
    raise GatewayUnavailable("not available")
