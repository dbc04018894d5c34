"""Text in a page that gives the agent orders (indirect prompt injection)."""

from typing import ClassVar, Final, Literal, Self

from pydantic import Field, JsonValue, model_validator

from warex.effects import Effect, Rewrite
from warex.exchange import Exchange
from warex.faults.base import Memory, PageFault
from warex.faults.injection.payloads import payloads
from warex.rewriting.page_script import page_script
from warex.seeds import Luck

type PayloadId = Literal["confirm", "new-task", "important", "moved", "press"]
type Where = Literal["visible", "hidden", "title", "aria-label", "alt", "comment"]

_BUTTONS: Final = ("Continue", "Confirm", "Proceed")


class PromptInjection(PageFault, frozen=True):
    """Put such a text into the page, and see whether the agent does what it says.

    The text wants a link of the same site opened, at which the proxy answers, or a button pressed
    that stands in the page because of it.
    """

    summary: ClassVar = "Put a text into the page that gives the agent orders."
    category: ClassVar = "attack"
    sizes: ClassVar = ()

    kind: Literal["prompt_injection"] = "prompt_injection"
    payload: PayloadId | None = Field(
        default=None, description="Which text; left out, the seed chooses one for the trial."
    )
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=4000,
        description="A text of your own, with `{link}` or `{button}` where it names its goal.",
    )
    where: Where = Field(default="visible", description="What of the page carries the text.")
    place: Literal["content", "user_content"] = Field(
        default="content",
        description="At the end of the main content, or in place of what another user wrote.",
    )
    selector: str | None = Field(
        default=None, min_length=1, description="A CSS selector of the element, in place of both."
    )

    @model_validator(mode="after")
    def _has_one_goal(self) -> Self:
        if self.text is None:
            return self
        if self.payload is not None:
            raise ValueError("payload and text are both given; give one")
        if ("{link}" in self.text) == ("{button}" in self.text):
            raise ValueError(
                f"text has to hold either {{link}} or {{button}}, since whether it was followed"
                f" is told by that alone; it is {self.text[:60]!r}"
            )
        return self

    def effects(
        self, exchange: Exchange, memory: Memory, luck: Luck
    ) -> tuple[tuple[Effect, ...], Memory]:
        """Put the text into each page that is hit; each page has a link of its own."""
        seen = memory.get("pages", 0)
        number = seen if isinstance(seen, int) else 0
        found = [it.text for it in payloads() if self.payload in (None, it.id)]
        text = self.text or luck.choice(found, "payload")
        button = luck.choice(_BUTTONS, "button") if "{button}" in text else None
        report = f"/{luck.word('report', number)}"
        where = exchange.request.parts
        link = f"{where.scheme}://{where.netloc}{report}"
        settings: dict[str, JsonValue] = {
            "after": 0,
            "text": text.replace("{link}", link).replace("{button}", button or ""),
            "button": button,
            "where": self.where,
            "place": self.place,
            "selector": self.selector,
        }
        return (Rewrite(page_script(__name__, settings, report)),), {**memory, "pages": number + 1}

    def explain(self) -> str:
        """Return what the browser meets, in words."""
        which = "its own" if self.text else self.payload or "chosen by the seed"
        return (
            "is handled by the site, and has a text that gives orders"
            f" ({which}, {self.where.replace('-', ' ')})"
        )
