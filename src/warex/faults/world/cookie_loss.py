"""The client's session is lost in the middle of a task, with its basket."""

import hashlib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, ClassVar, Final, Literal, override

from pydantic import AfterValidator, Field, JsonValue

from warex.effects import Rewrite
from warex.exchange import Exchange, Request, Resource
from warex.faults.base import EffectsAndState, Fault, FaultState, number_in
from warex.rewriting.cookie_expiry import CookieExpiry
from warex.seeds import KeyedRng
from warex.text.lazy_pattern import lazy_re

_SESSION: Final = lazy_re(
    r"sess|(?<![a-z])s?id$|sid(?![a-z])|auth|token|jwt|login|logged|user|account|remember|identity"
    r"|cart|basket|bag$|^\.aspnet|^__(?:host|secure)-"
)
_OTHER: Final = lazy_re(
    r"csrf|xsrf|consent|cookie|theme|lang|locale|currency|country|tz|timezone|utm|^_ga|^_gid|^_fbp"
    r"|^_gcl|^ajs_|optimizely|amplitude|hotjar|^_hj|matomo|^_pk_|^cf_|^__cf|datadome|^ak_|abtest",
)
"""Cookies that no session depends on."""
_STRAY: Final = 2.0
"""Seconds within which requests that were under way may still bring a lost cookie."""
_MOST: Final = 20


def _is_glob(pattern: str) -> str:
    if not pattern or any(sign in pattern for sign in '=;, "') or not pattern.isprintable():
        raise ValueError(f"{pattern!r} is not a name of a cookie: a glob such as sid or *session*")
    return pattern


type _Glob = Annotated[str, Field(max_length=200), AfterValidator(_is_glob)]


class CookieLoss(Fault, frozen=True):
    """Lose cookies on the way to the site, and at the client, once.

    Source: RFC 6265, sections 4.1.2, 5.3 and 5.4.
    """

    summary: ClassVar = "Lose the session's cookies: signed out, and the basket is empty."
    category: ClassVar = "session"
    default_resource: ClassVar[tuple[Resource, ...]] = ("document", "xhr")

    kind: Literal["cookie_loss"] = "cookie_loss"
    stage: Literal["response"] = "response"
    cookies: tuple[_Glob, ...] | None = Field(
        default=None,
        min_length=1,
        description="Globs over the names of the cookies; left out, those that look like a"
        " session's.",
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Lose the cookies of this request, in it and at the client."""
        request, lost = exchange.request, _lost(state)
        carried = _carried(request)
        names = _stray(request, lost) or self._chosen(carried)
        known: dict[str, JsonValue] = {**state, "waits": not names and not lost}
        if names:
            values: dict[str, JsonValue] = {name: _digest(carried[name]) for name in names}
            known["lost"] = {**lost, **values}
            known.setdefault("at", exchange.at)
        return (Rewrite(CookieExpiry(names), drops=names),), known

    def _chosen(self, carried: Mapping[str, str]) -> tuple[str, ...]:
        """Return the names of the cookies that are lost, in their order."""
        if self.cookies is not None:
            globs = self.cookies
            wanted = [it for it in carried if any(fnmatchcase(it, glob) for glob in globs)]
        else:
            wanted = [name for name in carried if _is_session(name)] or [
                name for name, value in carried.items() if _is_random(name, value)
            ]
        return tuple(wanted[:_MOST])

    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether no request had such a cookie yet, or this one still brings a lost one."""
        return state.get("waits") is True or self.reaches(exchange, state)

    @override
    def reaches(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether a request that was under way brings a lost cookie."""
        if exchange.at > number_in(state, "at") + _STRAY:
            return False
        return bool(_stray(exchange.request, _lost(state)))

    @property
    @override
    def never_ends(self) -> str:
        return "who signs in again is signed out by the next request, and no session ever lasts"

    @override
    def explain(self) -> str:
        return f"is handled by the site {self.outcome()}"

    @override
    def outcome(self) -> str:
        which = (
            f"the cookies {', '.join(self.cookies)}" if self.cookies else "its session's cookies"
        )
        return f"without {which}, which the client loses, too"


def _carried(request: Request) -> dict[str, str]:
    """Return the cookies of a request, by name."""
    parts = (it.partition("=") for it in request.headers.get("cookie", "").split(";"))
    return {name.strip(): value.strip() for name, mark, value in parts if mark and name.strip()}


def _is_session(name: str) -> bool:
    lower = name.lower()
    return _SESSION.search(lower) is not None and _OTHER.search(lower) is None


def _is_random(name: str, value: str) -> bool:
    """Whether a cookie may be a session's by its value: long, and of many signs."""
    return len(value) >= 16 and len(set(value)) >= 8 and _OTHER.search(name.lower()) is None


def _digest(value: str) -> str:
    """Return what tells a value of a cookie again, without the value: it is a secret."""
    return hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _lost(state: FaultState) -> Mapping[str, JsonValue]:
    """Return the digest of each cookie that was lost, by name."""
    lost = state.get("lost")
    return lost if isinstance(lost, dict) else {}


def _stray(request: Request, lost: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return the names of the cookies that a request brings though they were lost."""
    if not lost:
        return ()
    return tuple(it for it, value in _carried(request).items() if lost.get(it) == _digest(value))
