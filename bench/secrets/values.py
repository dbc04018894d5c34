"""Makes the values of fake secrets; the same seed makes the same ones."""

import base64
import random  # noqa: TID251  (Of this run, not of a trial.)
import string
import uuid
from collections.abc import Callable, Mapping

type Draw = Callable[[random.Random], str]
"""Draws a value."""

_ALNUM = string.ascii_letters + string.digits
_WORDS = ("otter", "maple", "kettle", "harbor", "pickle", "velvet", "saddle", "tundra", "walnut")


def _of(alphabet: str, length: int) -> Draw:
    return lambda rng: "".join(rng.choice(alphabet) for _ in range(length))


def token(length: int) -> Draw:
    """Draw letters of both cases and digits, some of each."""
    return lambda rng: (
        rng.choice(string.digits)
        + rng.choice(string.ascii_uppercase)
        + rng.choice(string.ascii_lowercase)
        + _of(_ALNUM, length - 3)(rng)
    )


def hexadecimal(length: int) -> Draw:
    """Draw hexadecimal digits, with a letter and a digit."""
    return lambda rng: f"{rng.choice('abcdef')}{_of('0123456789abcdef', length - 2)(rng)}7"


def word_password(rng: random.Random) -> str:
    """Draw a password as people choose them: ``Otter!4711xyz``."""
    tail = f"{rng.choice('!$*.#')}{rng.randrange(1000, 9999)}{_of(string.ascii_lowercase, 3)(rng)}"
    return rng.choice(_WORDS).title() + tail


def short_password(rng: random.Random) -> str:
    """Draw a password of six to eight characters: ``otter42``."""
    return f"{rng.choice(_WORDS)[:5]}{rng.randrange(10, 999)}"


def letters_password(rng: random.Random) -> str:
    """Draw a password of letters: ``maplekettle``."""
    return "".join(rng.sample(_WORDS, 2))


def odd_password(rng: random.Random) -> str:
    """Draw a password with signs that JSON, URLs and HTML escape."""
    return f"{rng.choice(_WORDS)}&{rng.randrange(100, 999)}<%é/+{_of(_ALNUM, 4)(rng)}"


def digits(length: int) -> Draw:
    """Draw digits."""
    return _of(string.digits, length)


def base64_text(size: int) -> Draw:
    """Draw random bytes in base64."""
    return lambda rng: base64.b64encode(rng.randbytes(size)).decode().rstrip("=")


def a_uuid(rng: random.Random) -> str:
    """Draw a UUID."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def behind(prefix: str, draw: Draw, tail: str = "") -> Draw:
    """Draw a value behind a vendor's prefix."""
    return lambda rng: f"{prefix}{draw(rng)}{tail}"


PASSWORDS: Mapping[str, Draw] = {
    "word": word_password,
    "short": short_password,
    "letters": letters_password,
    "token": token(14),
}
VENDORS: Mapping[str, Draw] = {
    "langsmith": lambda rng: f"lsv2_pt_{hexadecimal(32)(rng)}_{hexadecimal(10)(rng)}",
    "langsmith-old": behind("ls__", hexadecimal(32)),
    "elevenlabs": behind("sk_", hexadecimal(48)),
    "cursor": behind("key_", hexadecimal(64)),
    "cursor-cli": behind("crsr_", hexadecimal(64)),
    "brave": behind("BSA", token(28)),
    "replicate": behind("r8_", token(37)),
    "sendgrid": lambda rng: f"SG.{token(22)(rng)}.{token(43)(rng)}",
    "telegram": lambda rng: f"{digits(10)(rng)}:{token(35)(rng)}",
    "telegram-aa": lambda rng: f"{digits(9)(rng)}:AA{token(33)(rng)}",
    "digitalocean": behind("dop_v1_", hexadecimal(64)),
    "firecrawl": behind("fc-", hexadecimal(32)),
    "mailgun": behind("key-", hexadecimal(32)),
    "sentry": behind("sntryu_", hexadecimal(64)),
    "shopify": behind("shpat_", hexadecimal(32)),
    "postman": lambda rng: f"PMAK-{hexadecimal(24)(rng)}-{hexadecimal(34)(rng)}",
    "supabase": behind("sbp_", hexadecimal(40)),
    "langfuse": lambda rng: f"sk-lf-{a_uuid(rng)}",
    "apify": behind("apify_api_", token(36)),
    "hyperbrowser": behind("hb_", hexadecimal(30)),
    "doppler": behind("dp.pt.", token(43)),
    "openai": behind("sk-proj-", token(48)),
    "anthropic": behind("sk-ant-api03-", token(40)),
    "deepseek": behind("sk-", hexadecimal(32)),
    "github": behind("ghp_", token(36)),
    "aws": behind("AKIA", _of(string.ascii_uppercase + "234567", 16)),
    "stripe": behind("sk_live_", token(24)),
    "google": behind("AIzaSy", token(33)),
    "slack": behind("xoxb-", lambda rng: f"{digits(12)(rng)}-{token(24)(rng)}"),
    "pinecone": behind("pcsk_", token(40)),
    "resend": behind("re_", token(32)),
    "figma": behind("figd_", token(40)),
    "wandb": behind("wandb_v1_", token(40)),
    "steel": behind("ste-", token(40)),
}
