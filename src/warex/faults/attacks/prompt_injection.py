"""Text in a page that instructs the agent (indirect prompt injection)."""

from pathlib import Path
from typing import ClassVar, Final, Literal, Self, override

from pydantic import Field, JsonValue, ValidationInfo, field_validator, model_validator

from warex.effects import Rewrite
from warex.exchange import Exchange, Resource
from warex.faults.attacks.payloads import LONGEST, TextFile, payloads, read_text
from warex.faults.base import (
    EffectsAndState,
    FaultState,
    PageFault,
    invalid_selector,
    next_number,
    parts,
)
from warex.faults.lies.base import Pointer
from warex.rewriting.base import ValueChange
from warex.rewriting.html_body.script_injection import injected_script
from warex.rewriting.json_body.edit import JsonEdit
from warex.rewriting.json_body.value_kinds import ValueKind
from warex.seeds import KeyedRng

type PayloadId = Literal["confirm", "new-task", "important", "moved", "press"]
type Where = Literal["visible", "hidden", "title", "aria-label", "alt", "comment", "json"]

_BUTTONS: Final = ("Continue", "Confirm", "Proceed")


class PromptInjection(PageFault, frozen=True):
    """Put such a text into the page, and record whether the agent follows it.

    The text asks to open a link of the same site, which the proxy answers, or to press a button
    that is added to the page.
    """

    summary: ClassVar = "Add a text to the page that gives the agent instructions."
    category: ClassVar = "attack"

    kind: Literal["prompt_injection"] = "prompt_injection"
    payload: PayloadId | None = Field(
        default=None, description="Which text; left out, the seed chooses one for the trial."
    )
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=LONGEST,
        description="A text of your own, with `{link}` or `{button}` where it names its goal; or"
        " `{file: …}` for one that is in a file.",
    )
    where: Where = Field(
        default="visible",
        description="What of the page carries the text, or the data that its scripts ask for.",
    )
    place: Literal["content", "user_content"] = Field(
        default="content",
        description="At the end of the main content, or in place of what another user wrote.",
    )
    selector: str | None = Field(
        default=None, min_length=1, description="A CSS selector of the element, in place of both."
    )
    at: Pointer | None = Field(
        default=None, description="With `where: json`, a JSON pointer (RFC 6901) to the value."
    )

    @property
    def resources(self) -> tuple[Resource, ...]:
        """Documents; the requests of scripts if JSON carries the text."""
        return ("xhr",) if self.where == "json" else self.default_resource

    @field_validator("text", mode="before", json_schema_input_type=str | TextFile | None)
    @classmethod
    def _read(cls, text: object, info: ValidationInfo) -> object:
        match text:
            case {"file": str(file), **rest} if not rest:
                return read_text({"file": file}, (info.context or {}).get("folder", Path()))
            case _:
                return text

    @model_validator(mode="after")
    def _has_one_goal(self) -> Self:
        if self.text is None:
            return self
        if self.payload is not None:
            raise ValueError("payload and text are both given; give one")
        if ("{link}" in self.text) == ("{button}" in self.text):
            raise ValueError(
                f"text has to hold either {{link}} or {{button}}, since whether it was followed"
                f" is recognised by that alone; it is {self.text[:60]!r}"
            )
        return self

    @model_validator(mode="after")
    def _require_place(self) -> Self:
        if self.where != "json":
            if self.at is not None:
                raise ValueError(f"at is for where: json, and where is {self.where}")
            return self
        if self.selector is not None or self.place != "content":
            raise ValueError("selector and place are for pages, and where is json; give at")
        goals = {it.goal for it in payloads() if it.id == self.payload}
        if "{button}" in (self.text or "") or "click" in goals:
            raise ValueError("data in JSON cannot bring a button; give a text with {link}")
        return self

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Put the text into each page that is hit; each page has its own link."""
        number, state = next_number(state)
        goals = ("visit",) if self.where == "json" else ("visit", "click")
        texts = [it.text for it in payloads() if self.payload in (None, it.id) and it.goal in goals]
        text = self.text or rng.choice(texts, "payload")
        button = rng.choice(_BUTTONS, "button") if "{button}" in text else None
        # The text shows the link, and all scripts of the page can read it.
        page = f"/{rng.hex_word('report', number)}"
        where = exchange.request.parts
        link = f"{where.scheme}://{where.netloc}{page}"
        text = text.replace("{link}", link).replace("{button}", button or "")
        if self.where == "json":
            kind: ValueKind | None = "user_text" if self.at is None else None
            edit = JsonEdit("replaced", rng, self.at, kind, text=text)
            return (Rewrite(edit, page),), state
        settings: dict[str, JsonValue] = {
            "after": 0,
            "text": text,
            "button": button,
            "where": self.where,
            "place": self.place,
            "selector": self.selector,
        }
        shows = (ValueChange(f"text ({self.where})", "", text), *parts(button=button))
        report = f"/{rng.hex_word('reports', number)}"
        details = invalid_selector(self.selector)
        script = injected_script(
            __name__, settings, report, ("content",), shows=shows, details=details
        )
        return (Rewrite(script, page),), state

    @override
    def outcome(self) -> str:
        which = "its own" if self.text else self.payload or "chosen by the seed"
        where = "in JSON" if self.where == "json" else self.where.replace("-", " ")
        return f"has a text that gives orders ({which}, {where})"
