"""A comment of one sentence on each line, from the model gateway, or from a template where there is no answer."""

from recon.gateway import GatewayUnavailable, complete

_ASKED = (
    "Write one plain sentence for a fund accountant about an open reconciliation line. No advice, no semicolons. "
    "Kind {kind}, reference {ref}, difference {amount:.2f}, reason: {note}."
)
_LONGEST = 160
_A_DAY = 40  # the gateway is metered


def commented(actions):
    """The actions with a sentence in ``note``. After one refusal the gateway is not asked again this morning."""
    asked, done = 0, []
    for one in actions:
        text = None
        if asked < _A_DAY:
            try:
                text = complete(_ASKED.format(**one._asdict()), max_tokens=60, timeout_s=10)
                asked += 1
            except GatewayUnavailable:
                asked = _A_DAY
        done.append(one._replace(note=_one_line(text) or template(one)))
    return done


def template(one):
    what = {"TRADE": "Trade", "ENT": "Dividend", "POS": "Position"}[one.kind]
    return f"{what} {one.ref} differs by {one.amount:.2f}: {one.note}."


def _one_line(text):
    return " ".join((text or "").replace(";", ",").split())[:_LONGEST]
