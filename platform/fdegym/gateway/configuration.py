"""What a deployment decides about the model gateway, read from its environment. Knows neither Django nor the key.

The key itself is read by the gateway's process alone, when it starts (``key.py``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

NANO = 10**9  #: money is counted in whole billionths of the currency: sums are exact, in every database
GATEWAY_VARIABLES: dict[str, str] = {
    "FDEGYM_GATEWAY": "who answers calls of the model gateway: disabled, openai or replay (default disabled)",
    "FDEGYM_GATEWAY_URL": "for openai: address of an OpenAI-compatible API, up to and with /v1",
    "FDEGYM_GATEWAY_MODELS": "models with their prices for a million tokens in and out, name=0.15/0.6, separated by commas; "
    "the first is the default",
    "FDEGYM_GATEWAY_KEY": "key of that API; only the gateway's process may have it (default none)",
    "FDEGYM_GATEWAY_KEY_FILE": "file that holds the key instead (default none)",
    "FDEGYM_GATEWAY_CURRENCY": "currency of the prices, three letters (default USD)",
    "FDEGYM_GATEWAY_MONEY": "money that one run, and one grade, may spend at most (default: as its tokens allow)",
    "FDEGYM_GATEWAY_TIMEOUT_S": "seconds that an answer may take (default 60)",
    "FDEGYM_GATEWAY_RECORDING": "for replay: file of recorded calls, one JSON object a line",
    "FDEGYM_GATEWAY_BODIES": "1 keeps what was asked and answered in FDEGYM_VAR/gateway (default 0: hashes and sizes)",
}
_PRICE = re.compile(r"\d{1,6}(\.\d{1,3})?", re.ASCII)
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}", re.ASCII)


class GatewayMisconfigured(ValueError):
    """A variable that cannot be used; the text names it."""


@dataclass(frozen=True, slots=True)
class Price:
    """Of one token in and one token out, in billionths of the currency."""

    token_in_nano: int = 0
    token_out_nano: int = 0

    def of(self, prompt_tokens: int, completion_tokens: int) -> int:
        """Billionths of the currency for so many tokens."""
        return prompt_tokens * self.token_in_nano + completion_tokens * self.token_out_nano


@dataclass(frozen=True, slots=True)
class GatewayConfiguration:
    """``models``: name → price, the default first. ``most_nano``: of one run and of one grade, None: no such cap."""

    provider: str = "disabled"
    url: str = ""
    models: Mapping[str, Price] = field(default_factory=dict)
    currency: str = "USD"
    most_nano: int | None = None
    timeout_s: float = 60.0
    recording: Path | None = None
    keeps_bodies: bool = False

    @property
    def enabled(self) -> bool:
        return self.provider != "disabled"


def read_gateway(variables: Mapping[str, str]) -> GatewayConfiguration:
    """The configuration, checked. Raises ``GatewayMisconfigured``."""
    provider = _word(variables, "FDEGYM_GATEWAY") or "disabled"
    if provider not in ("disabled", "openai", "replay"):
        raise GatewayMisconfigured(f"FDEGYM_GATEWAY is {provider!r}; it must be one of disabled, openai, replay.")
    models = _models(_word(variables, "FDEGYM_GATEWAY_MODELS"))
    url = _url(_word(variables, "FDEGYM_GATEWAY_URL"))
    recording = _word(variables, "FDEGYM_GATEWAY_RECORDING")
    if provider == "openai" and not (url and models):
        missing = "FDEGYM_GATEWAY_MODELS" if url else "FDEGYM_GATEWAY_URL"
        raise GatewayMisconfigured(f"FDEGYM_GATEWAY is openai; then {missing} must be set.")
    if provider == "replay" and not Path(recording or ".").is_file():
        raise GatewayMisconfigured(f"FDEGYM_GATEWAY_RECORDING is {recording!r}; with replay it must name a file.")
    if _word(variables, "FDEGYM_GATEWAY_KEY") and _word(variables, "FDEGYM_GATEWAY_KEY_FILE"):
        raise GatewayMisconfigured("FDEGYM_GATEWAY_KEY and FDEGYM_GATEWAY_KEY_FILE are both set; one must go.")
    money = _word(variables, "FDEGYM_GATEWAY_MONEY")
    if money and not _PRICE.fullmatch(money):
        raise GatewayMisconfigured(f"FDEGYM_GATEWAY_MONEY is {money!r}; it must be an amount such as 2 or 0.50.")
    return GatewayConfiguration(
        provider=provider,
        url=url,
        models=models,
        currency=_currency(_word(variables, "FDEGYM_GATEWAY_CURRENCY") or "USD"),
        most_nano=_thousandths(money) * (NANO // 1000) if money else None,
        timeout_s=_timeout(_word(variables, "FDEGYM_GATEWAY_TIMEOUT_S") or "60"),
        recording=Path(recording).resolve() if recording else None,
        keeps_bodies=_flag(variables, "FDEGYM_GATEWAY_BODIES"),
    )


def _word(variables: Mapping[str, str], name: str) -> str:
    return variables.get(name, "").strip()


def _thousandths(amount: str) -> int:
    whole, _, fraction = amount.partition(".")
    return int(whole) * 1000 + int(fraction.ljust(3, "0"))


def _models(text: str) -> dict[str, Price]:
    found: dict[str, Price] = {}
    for part in (part.strip() for part in text.split(",") if part.strip()):
        name, _, prices = part.partition("=")
        token_in, _, token_out = prices.partition("/")
        if not (_MODEL.fullmatch(name) and _PRICE.fullmatch(token_in) and _PRICE.fullmatch(token_out)):
            raise GatewayMisconfigured(
                f"FDEGYM_GATEWAY_MODELS holds {part!r}; it must be name=in/out, prices for a million tokens with at most "
                "three decimals, such as small=0.15/0.6."
            )
        if name in found or name == "default":
            raise GatewayMisconfigured(f"FDEGYM_GATEWAY_MODELS names {name!r} twice, or a model is called default.")
        found[name] = Price(_thousandths(token_in), _thousandths(token_out))  # a thousandth of a million: a billionth
    return found


def _url(text: str) -> str:
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise GatewayMisconfigured("FDEGYM_GATEWAY_URL must be an address such as https://models.example.org/v1.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise GatewayMisconfigured(
            "FDEGYM_GATEWAY_URL must hold no user, password or query; the key has its own variable."
        )
    return text.rstrip("/")


def _currency(text: str) -> str:
    if not re.fullmatch(r"[A-Z]{3}", text, re.ASCII):
        raise GatewayMisconfigured(f"FDEGYM_GATEWAY_CURRENCY is {text!r}; it must be three capital letters.")
    return text


def _timeout(text: str) -> float:
    if not re.fullmatch(r"\d{1,3}", text, re.ASCII) or not 1 <= int(text) <= 600:
        raise GatewayMisconfigured(f"FDEGYM_GATEWAY_TIMEOUT_S is {text!r}; it must be whole seconds from 1 to 600.")
    return float(text)


def _flag(variables: Mapping[str, str], name: str) -> bool:
    value = _word(variables, name).lower()
    if value not in ("", "0", "1", "true", "false", "yes", "no"):
        raise GatewayMisconfigured(f"{name} is {value!r}; it must be 0 or 1.")
    return value in ("1", "true", "yes")
