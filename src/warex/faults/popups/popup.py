"""A harmless dialog of the site over its page, closed by a click (§3.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, override

from pydantic import Field, JsonValue

from warex.exchange import Exchange
from warex.faults.base import (
    EffectsAndState,
    FaultState,
    as_setting,
    next_number,
    parts,
    run_in_page,
)
from warex.faults.pages.wording import in_languages
from warex.faults.popups.base import PopupFault
from warex.rewriting.html_body.script_injection import PAGE_LANGUAGE, PAGE_LOOK
from warex.seeds import KeyedRng

type About = Literal["newsletter", "cookies", "survey", "app", "login"]


@dataclass(frozen=True, slots=True)
class _Words:
    """The texts of one popup."""

    title: str
    text: str
    accept: str
    close: str = "Close"
    field: str | None = None
    """The label of an input; None for no input."""


_WORDS: Final[dict[About, tuple[_Words, ...]]] = {
    "newsletter": (
        _Words("Get 10% off", "Join our list and hear first.", "Sign up", field="Email address"),
        _Words("Stay in the loop", "One short mail a week.", "Subscribe", field="Your email"),
        _Words("Before you go", "Be the first to know about offers.", "Join", field="Email"),
    ),
    "cookies": (
        _Words("We value your privacy", "We use cookies to improve our service.", "Accept all"),
        _Words("Cookies on this site", "Some are needed, some help us to learn.", "I agree"),
        _Words("Your choices", "We and our partners store information.", "Allow all"),
    ),
    "survey": (
        _Words("How are we doing?", "Two questions, one minute.", "Take the survey", "No thanks"),
        _Words("Tell us what you think", "Your opinion matters to us.", "Start", "Not now"),
    ),
    "app": (
        _Words("It is better in the app", "Faster, and with fewer taps.", "Open the app"),
        _Words("Get our app", "Notifications, and offers for members.", "Install", "Not now"),
    ),
    "login": (
        _Words("Sign in for more", "Members see their own prices.", "Sign in", "Maybe later"),
        _Words("Welcome back", "Sign in to go on where you were.", "Continue", "Stay signed out"),
    ),
}
_LOOKS: Final = (
    {"background": "#ffffff", "ink": "#222222", "accent": "#1a73e8", "round": "8px"},
    {"background": "#fdf6ec", "ink": "#3a2a18", "accent": "#c4552d", "round": "2px"},
    {"background": "#1f2430", "ink": "#f4f5f7", "accent": "#4caf7a", "round": "14px"},
    {"background": "#f3f6ff", "ink": "#1b2559", "accent": "#5b3df5", "round": "20px"},
)
_FONTS: Final = ("system-ui, sans-serif", "Georgia, serif", "Verdana, sans-serif")


def _in_languages(about: About, words: _Words) -> Mapping[str, Mapping[str, str]]:
    texts = {"title": words.title, "text": words.text, "button": words.accept, "close": words.close}
    if words.field:
        texts["field"] = words.field
    return in_languages(about, **texts)


class Popup(PopupFault, frozen=True):
    """Open a dialog over the page; its button, Escape and a click beside it close it."""

    summary: ClassVar = "Open a dialog over the page, which one click closes."

    kind: Literal["popup"] = "popup"
    about: About | None = Field(
        default=None, description="What it is about; left out, the seed chooses."
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Open a popup on each page that is hit, with its own texts."""
        number, _ = next_number(state)
        kinds = _WORDS if self.about is None else (self.about,)
        about, words = rng.choice(
            [(kind, words) for kind in kinds for words in _WORDS[kind]], "words", number
        )
        look: dict[str, JsonValue] = {
            **rng.choice(_LOOKS, "look", number),
            "font": rng.choice(_FONTS, "font", number),
            "overlay": self.place == "overlay",
        }
        wordings = _in_languages(about, words)
        settings: dict[str, JsonValue] = {
            **self.timing(),
            "words": as_setting(wordings),
            "isOfSite": True,
            "look": look,
        }
        helpers, meant = (PAGE_LANGUAGE, PAGE_LOOK), parts(**wordings["en"])
        return run_in_page(__name__, settings, state, rng, helpers, meant=meant)

    @override
    def outcome(self) -> str:
        about = f" ({self.about})" if self.about else ""
        return f"shows a popup{about} {self.describe_timing()}"
