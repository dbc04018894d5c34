"""The session ends: the client is no longer logged in."""

from typing import ClassVar, Final, Literal, override

from pydantic import Field

from warex.effects import Reply
from warex.exchange import Exchange, Request
from warex.faults.base import EffectsAndState, FaultState
from warex.faults.pages import Incident
from warex.faults.walls.base import Wall, WallText, same_site_location
from warex.seeds import KeyedRng

_STYLE: Final = """\
main{max-width:24em;margin:9vh auto 0}label{display:block;margin:0 0 14px}
input{display:block;width:100%;box-sizing:border-box;padding:10px;font:inherit;\
border:1px solid;border-radius:$corner}
"""
_CONTENT: Final = """\
<h1>$title</h1><p>$sentence</p>
<form method="post" action="$path_of_form">
<label>$name<input name="username" autocomplete="username" required></label>
<label>$password<input type="password" name="password" autocomplete="current-password" required>
</label><button type="submit">$button</button></form>"""


class SessionExpired(Wall, frozen=True):
    """Clear the site's cookies in the browser, or show a login page that any name passes.

    Sources: RFC 6265, sections 3.1 and 4.1.2 (an expired cookie is removed); W3C Clear Site Data,
    section 3.1.
    """

    summary: ClassVar = "End the session: show the site's login page, or one of WAREX's."

    kind: Literal["session_expired"] = "session_expired"
    login: Literal["site", "own"] = Field(
        default="site", description="To the site's own login, or to one of ours."
    )

    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether a login page of ours applies; the site's own cookies are cleared once."""
        return self.login == "own" and super().still_applies(exchange, state)

    @property
    @override
    def never_ends(self) -> str:
        """The site's login page is hit, too."""
        if self.login == "own":
            return super().never_ends
        return (
            "what comes back without its cookies is redirected again until the browser gives up"
            " (ERR_TOO_MANY_REDIRECTS), and neither a page nor the site's login ever comes"
        )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Redirect the client without its cookies, or answer with a login page."""
        if self.login == "site":
            headers = {
                "location": same_site_location(exchange.request),
                "clear-site-data": '"cookies"',
                "cache-control": "no-store",
            }
            return (Reply(307, headers, cookies=_forgotten(exchange.request)),), state
        return super().effects(exchange, state, rng)

    @override
    def spares(self, exchange: Exchange, state: FaultState) -> bool:
        return self.login == "own" and super().spares(exchange, state)

    @override
    def text(self, incident: Incident) -> WallText:
        words = dict(
            sentence=incident.say("login_sentence"),
            name=incident.say("login_name"),
            password=incident.say("password"),
            button=incident.say("login_button"),
        )
        return WallText(incident.say("login_title"), _STYLE, _CONTENT, words)

    @override
    def outcome(self) -> str:
        if self.login == "site":
            return "redirected (307) to itself, with the site's cookies cleared"
        return "answered 200 with a login page that any name and password pass"


def _forgotten(request: Request) -> tuple[str, ...]:
    """Return ``Set-Cookie`` values that remove each cookie, of the host and its parent domains."""
    host = request.parts.hostname or ""
    names = {it.partition("=")[0].strip() for it in request.headers.get("cookie", "").split(";")}
    labels = host.split(".")
    above = [".".join(labels[start:]) for start in range(len(labels) - 1)]
    ends = "Max-Age=0; Path=/"
    return tuple(
        f"{name}=; {ends}{domain}"
        for name in sorted(names - {""})
        for domain in ("", *(f"; Domain={it}" for it in above))
    )
