"""Makes the values of fake secrets; the same seed makes the same ones."""

import base64
import random  # noqa: TID251  (Of this run, not of a trial.)
import re
import string
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Final

_ALNUM = string.ascii_letters + string.digits
_WORDS = ("otter", "maple", "kettle", "harbor", "pickle", "velvet", "saddle", "tundra", "walnut")
_FIELD = re.compile(r"\{(\w+)((?: \d+)*)\}")


def draw_value(rng: random.Random, templates: Sequence[str]) -> str:
    """Fill a template such as ``sk-{hexadecimal 32}``, one of those given.

    A field names one of the functions below, with its numbers.
    """
    template = templates[0] if len(templates) == 1 else rng.choice(templates)
    return _FIELD.sub(lambda field: _MAKERS[field[1]](rng, *map(int, field[2].split())), template)


def _of(alphabet: str, rng: random.Random, length: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(length))


def token(rng: random.Random, length: int) -> str:
    """Make letters of both cases and digits, some of each."""
    return (
        rng.choice(string.digits)
        + rng.choice(string.ascii_uppercase)
        + rng.choice(string.ascii_lowercase)
        + _of(_ALNUM, rng, length - 3)
    )


def upper_token(rng: random.Random, length: int) -> str:
    """Make a token of capitals and digits."""
    return token(rng, length).upper()


def hexadecimal(rng: random.Random, length: int) -> str:
    """Make hexadecimal digits, with a letter and a digit."""
    return f"{rng.choice('abcdef')}{_of('0123456789abcdef', rng, length - 2)}7"


def base32(rng: random.Random, length: int) -> str:
    """Make characters of base32."""
    return _of(string.ascii_uppercase + "234567", rng, length)


def base64_text(rng: random.Random, size: int) -> str:
    """Make random bytes in base64."""
    return base64.b64encode(rng.randbytes(size)).decode().rstrip("=")


def digits(rng: random.Random, length: int) -> str:
    """Make digits."""
    return _of(string.digits, rng, length)


def number(rng: random.Random, low: int, high: int) -> str:
    """Make a number from ``low`` on, below ``high``."""
    return str(rng.randrange(low, high))


def a_uuid(rng: random.Random) -> str:
    """Make a UUID."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def word_password(rng: random.Random) -> str:
    """Make a password as people choose them: ``Otter!4711xyz``."""
    tail = f"{rng.choice('!$*.#')}{rng.randrange(1000, 9999)}{_of(string.ascii_lowercase, rng, 3)}"
    return rng.choice(_WORDS).title() + tail


def short_password(rng: random.Random) -> str:
    """Make a password of six to eight characters: ``otter42``."""
    return f"{rng.choice(_WORDS)[:5]}{rng.randrange(10, 999)}"


def letters_password(rng: random.Random) -> str:
    """Make a password of letters: ``maplekettle``."""
    return "".join(rng.sample(_WORDS, 2))


def odd_password(rng: random.Random) -> str:
    """Make a password with signs that JSON, URLs and HTML escape."""
    return f"{rng.choice(_WORDS)}&{rng.randrange(100, 999)}<%é/+{_of(_ALNUM, rng, 4)}"


_MAKERS: Final[Mapping[str, Callable[..., str]]] = {
    maker.__name__: maker
    for maker in (
        *(token, upper_token, hexadecimal, base32, base64_text, digits, number, a_uuid),
        *(word_password, short_password, letters_password, odd_password),
    )
}

PASSWORDS: Final = ("{word_password}", "{short_password}", "{letters_password}", "{token 14}")
VENDORS: Final = (
    "lsv2_pt_{hexadecimal 32}_{hexadecimal 10}",  # langsmith
    "ls__{hexadecimal 32}",  # langsmith-old
    "sk_{hexadecimal 48}",  # elevenlabs
    "key_{hexadecimal 64}",  # cursor
    "crsr_{hexadecimal 64}",  # cursor-cli
    "BSA{token 28}",  # brave
    "r8_{token 37}",  # replicate
    "SG.{token 22}.{token 43}",  # sendgrid
    "{digits 10}:{token 35}",  # telegram
    "{digits 9}:AA{token 33}",  # telegram-aa
    "dop_v1_{hexadecimal 64}",  # digitalocean
    "fc-{hexadecimal 32}",  # firecrawl
    "key-{hexadecimal 32}",  # mailgun
    "sntryu_{hexadecimal 64}",  # sentry
    "shpat_{hexadecimal 32}",  # shopify
    "PMAK-{hexadecimal 24}-{hexadecimal 34}",  # postman
    "sbp_{hexadecimal 40}",  # supabase
    "sk-lf-{a_uuid}",  # langfuse
    "apify_api_{token 36}",  # apify
    "hb_{hexadecimal 30}",  # hyperbrowser
    "dp.pt.{token 43}",  # doppler
    "sk-proj-{token 48}",  # openai
    "sk-ant-api03-{token 40}",  # anthropic
    "sk-{hexadecimal 32}",  # deepseek
    "ghp_{token 36}",  # github
    "AKIA{base32 16}",  # aws
    "sk_live_{token 24}",  # stripe
    "AIzaSy{token 33}",  # google
    "xoxb-{digits 12}-{token 24}",  # slack
    "pcsk_{token 40}",  # pinecone
    "re_{token 32}",  # resend
    "figd_{token 40}",  # figma
    "wandb_v1_{token 40}",  # wandb
    "ste-{token 40}",  # steel
)
