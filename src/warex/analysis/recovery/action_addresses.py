"""Addresses that the actions of an agent name, or compute."""

import re
from urllib.parse import urljoin

from warex.analysis.recovery.connection_tries import split_url
from warex.analysis.recovery.trial_events import ModelAction

_ADDRESS = re.compile(r"/\S*|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?]\S*)?", re.IGNORECASE)
_WHOLE_URL = re.compile(r"https?://[^\s'\"{}]+")
_EXPRESSION = re.compile(r"(?:[rbf]{0,2}(['\"`])(?P<begin>[^'\"`{$%]*))?.*[\w)\]}'\"`]", re.DOTALL)


def begin_of_target(act: ModelAction) -> str | None:
    """Return the known begin of an address that code computes; None if it is not an expression."""
    if not isinstance(act.arguments, list) or not act.arguments:
        return None
    argument = act.arguments[0]
    if not isinstance(argument, str) or _WHOLE_URL.fullmatch(argument):
        return None
    if not re.search(r"[+{(\[$]|['\"]\s*%|^[A-Za-z_][\w.]*$", argument):
        return None
    match = _EXPRESSION.fullmatch(argument)
    return (match["begin"] or "") if match else None


def target_of(act: ModelAction, base: str) -> str:
    """Return the absolute URL among an action's arguments; empty if there is none."""
    for text in act.texts:
        if _WHOLE_URL.fullmatch(text):
            return text
        if act.does == "goto" and _ADDRESS.fullmatch(text):
            return joined(base, text) if text.startswith("/") else f"https://{text}"
    return ""


def joined(base: str, address: str) -> str:
    """Return the absolute form of an address in a page; empty for one that is invalid."""
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def host_of_url(url: str) -> str:
    """Return the host of an address, without ``www.``; empty for one that is invalid."""
    return (split_url(url).hostname or "").removeprefix("www.")
