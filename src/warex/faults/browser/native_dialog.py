"""A dialog of the browser itself, which blocks the tab until it is answered."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal, Self, override

from pydantic import Field, JsonValue, model_validator

from warex.exchange import Exchange
from warex.faults.base import (
    EffectsAndState,
    FaultState,
    PageFault,
    Seconds,
    as_setting,
    run_in_page,
)
from warex.faults.pages.wording import in_languages
from warex.rewriting.html_body.script_injection import PAGE_LANGUAGE
from warex.seeds import KeyedRng

type Dialog = Literal["alert", "confirm", "prompt", "beforeunload", "print"]

_WORDS: Final = in_languages(
    "dialogs",
    alert="Please note: this page has changed.",
    confirm="Would you like to hear of changes to this page?",
    sure="Are you sure that you want to send this?",
    prompt="What may we call you?",
)
_DETAILS: Final = {
    "unsent": "the form was not sent",
    "sandbox": "the page may open no dialog: it is sandboxed without allow-modals",
    "opaque": "the page may open no dialog: it is a sandboxed frame without allow-same-origin",
    "replaced": "something else stood in the place of the browser's dialog before the page came",
    "no-form": "no form of the page was sent",
    "stayed": "the page was not left",
    "activation": "the page was left before anybody had used it (no user activation)",
    "ignored": "the browser showed no dialog",
}


class NativeDialog(PageFault, frozen=True):
    """Open a dialog by which the browser blocks the page's scripts.

    Sources: WHATWG HTML, sections 8.8 (dialogs), 7.4.2.4 (``beforeunload``, which needs sticky
    activation) and 7.1.5 (``allow-modals``).
    """

    summary: ClassVar = "Block the tab with the browser's own dialog until it is answered."
    category: ClassVar = "popup"

    kind: Literal["native_dialog"] = "native_dialog"
    dialog: Dialog = Field(default="alert", description="Which dialog opens.")
    when: Literal["load", "submit"] = Field(
        default="load",
        description="After the page's load, or when a form is sent, which a refusal stops. A"
        " `beforeunload` comes when the page is left.",
    )
    after: Seconds = Field(default=0.0, description="Seconds from the page's load to the dialog.")

    @model_validator(mode="after")
    def _has_one_moment(self) -> Self:
        if self.when == "submit" and self.dialog == "beforeunload":
            raise ValueError(
                "when is for other dialogs: a beforeunload comes when the page is left. It is"
                " 'submit'; leave it out"
            )
        if self.when == "submit" and self.after:
            raise ValueError(
                "after is for when: load; a form is sent when it is sent. It is"
                f" {self.after:g}; leave it out"
            )
        return self

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Open the dialog once on each page that is hit."""
        which = "sure" if self.dialog == "confirm" and self.when == "submit" else self.dialog
        words: Mapping[str, Mapping[str, str]] = {
            language: {"text": wording.get(which, "")} for language, wording in _WORDS.items()
        }
        settings: dict[str, JsonValue] = {
            "isEarly": True,
            "dialog": self.dialog,
            "when": "leave" if self.dialog == "beforeunload" else self.when,
            "wait": round(self.after * 1000),
            "words": as_setting(words),
        }
        return run_in_page(__name__, settings, state, rng, (PAGE_LANGUAGE,), details=_DETAILS)

    @override
    def outcome(self) -> str:
        if self.dialog == "beforeunload":
            return "asks whether to leave its page, when it is left (beforeunload)"
        when = "when a form of its page is sent"
        if self.when == "load":
            when = f"{self.after:g} s after its page's load" if self.after else "on its page's load"
        return f"opens a dialog of the browser ({self.dialog}) {when}"
