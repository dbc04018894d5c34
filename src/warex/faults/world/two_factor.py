"""A code is asked for before the site's pages."""

from typing import ClassVar, Final, Literal, override

from msgspec.structs import replace
from pydantic import Field, JsonValue

from warex.effects import Reply, WallExit
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, Seconds
from warex.faults.pages import Incident, site_page
from warex.faults.walls.base import Wall, WallText, site_of
from warex.seeds import KeyedRng

type Way = Literal["messages", "banner", "wait", "other"]
"""How it is passed: by a code that a page of messages or a banner shows, by waiting until it was
confirmed elsewhere, or by another way than a code."""

_STYLE: Final = """\
main{max-width:28em;margin:9vh auto 0}h1{font-size:26px}
label{display:block;margin:0 0 14px}[role=alert]{border-inline-start:4px solid $accent;\
padding-inline-start:12px}
input{display:block;width:9em;padding:10px;font:inherit;letter-spacing:.2em;border:1px solid;\
border-radius:$corner}
aside{border:1px solid $accent;border-radius:$corner;padding:10px 16px;margin:0 0 26px}
"""
_FORM: Final = """\
<h1>$title</h1>$alert<p>$sentence</p>
<form method="post" action="$path_of_form"><label>$label<input name="code" inputmode="numeric"
 autocomplete="one-time-code" maxlength="12" required></label>
<button type="submit">$button</button></form>"""
_INBOX: Final = """
<p><a href="$path_of_form/messages">$inbox</a></p>"""
_OTHER: Final = """
<p><a href="$path_of_form/other">$other</a></p>"""
_BANNER: Final = """\
<aside role="status"><b>$inbox</b> $message</aside>
"""
_WAIT: Final = """\
<h1>$title</h1>$alert<p>$device</p>
<form method="post" action="$path_of_form"><button type="submit">$go_on</button></form>"""
_MESSAGES: Final = """\
<h1>$inbox</h1><article><h2>$site</h2><p>$message</p></article>
<p><a href="$back">$go_on</a></p>"""
_EMAIL: Final = """\
<h1>$title</h1><p>$email</p>
<form method="post" action="$path_of_form"><input type="hidden" name="code" value="$code">
<button type="submit">$button</button></form>"""
_ALERT: Final = '<p role="alert">$refused</p>'


class TwoFactor(Wall, frozen=True):
    """Answer with a page that asks for a code, or for a confirmation on another device.

    The right code is the one that the site shows elsewhere; another one is refused.
    """

    summary: ClassVar = "Ask for a code, or a confirmation elsewhere, before the site's pages."
    sizes: ClassVar = ("wait",)

    kind: Literal["two_factor"] = "two_factor"
    way: Way = Field(
        default="messages",
        description="How it is passed: by the code on a page of messages, by the code in a banner,"
        " by waiting until it was confirmed elsewhere, or by another way than a code.",
    )
    wait: Seconds = Field(
        default=10.0,
        description="Seconds after which it was confirmed elsewhere, with `way: wait`.",
    )

    @override
    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer with the page; note when the sign-in is confirmed elsewhere."""
        is_new = not self.still_applies(exchange, state)
        (reply, *_), known = super().effects(exchange, state, rng)
        if self.way != "wait":
            return (reply,), known
        assert isinstance(reply, Reply)
        assert reply.wall_exit is not None
        site, opened = site_of(exchange.request), _opens(state)
        opens_at = exchange.at + self.wait if is_new else opened.get(site, exchange.at)
        times: dict[str, JsonValue] = {**opened, site: opens_at}
        way_out = replace(reply.wall_exit, opens_at=opens_at)
        return (replace(reply, wall_exit=way_out),), {**known, "opens": times}

    @override
    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        return super().still_applies(exchange, state) and not self._is_confirmed(exchange, state)

    @override
    def spares(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether the client has passed the wall, or has waited long enough."""
        confirmed = not self.always and self._is_confirmed(exchange, state)
        return confirmed or super().spares(exchange, state)

    def _is_confirmed(self, exchange: Exchange, state: FaultState) -> bool:
        opens_at = _opens(state).get(site_of(exchange.request))
        return opens_at is not None and exchange.at >= opens_at

    @override
    def text(self, incident: Incident) -> WallText:
        return self._text(incident)

    def _text(self, incident: Incident, alert: str = "") -> WallText:
        forms = {
            "messages": f"{_FORM}{_INBOX}",
            "banner": f"{_BANNER}{_FORM}",
            "wait": _WAIT,
            "other": f"{_FORM}{_OTHER}",
        }
        content = forms[self.way].replace("$alert", alert)
        return WallText(incident.say("two_factor_title"), _STYLE, content, self._words(incident))

    @override
    def way_out(self, wall_exit: WallExit, incident: Incident) -> WallExit:
        words = self._words(incident) | {"path_of_form": wall_exit.path, "back": wall_exit.back}
        title, style, refused, _ = self._text(incident, _ALERT)
        pages = {"messages": (words["inbox"], _MESSAGES), "other": (title, _EMAIL)}
        shown = {self.way: pages[self.way]} if self.way in pages else {}
        return replace(
            wall_exit,
            code="" if self.way == "wait" else _code(incident, self.way),
            refusal=site_page(incident, title, style, refused, **words).body,
            pages={
                name: site_page(incident, heading, style, content, **words).body
                for name, (heading, content) in shown.items()
            },
        )

    def _words(self, incident: Incident) -> dict[str, str]:
        names = ("sentence", "label", "inbox", "message", "device", "other", "email")
        words = {name: incident.say(f"two_factor_{name}") for name in names}
        code = _code(incident, self.way)
        refused = "two_factor_pending" if self.way == "wait" else "two_factor_wrong"
        return words | {
            "message": words["message"].replace("{code}", code),
            "code": code,
            "refused": incident.say(refused),
            "button": incident.say("confirm"),
            "go_on": incident.say("continue"),
        }

    @override
    def outcome(self) -> str:
        ways = {
            "messages": "asks for a code, which a page of messages shows",
            "banner": "asks for a code, which a banner shows",
            "wait": f"is to be confirmed elsewhere, which takes {self.wait:g} s",
            "other": "asks for a code that never comes, and offers another way",
        }
        return f"answered 200 with a page that {ways[self.way]}"


def _code(incident: Incident, way: Way) -> str:
    """Return the code of a host; a code that is never shown is too long to be typed."""
    digits = 16 if way == "other" else 6
    return str(
        int(incident.rng.draw("code", incident.host) * 9 * 10 ** (digits - 1)) + 10 ** (digits - 1)
    )


def _opens(state: FaultState) -> dict[str, float]:
    """Return the second from which each site's wall is passed."""
    opens = state.get("opens")
    known = opens.items() if isinstance(opens, dict) else ()
    return {site: at for site, at in known if isinstance(at, int | float)}
