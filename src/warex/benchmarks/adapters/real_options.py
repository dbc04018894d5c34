"""Options of REAL's adapter: task set, observations, actions, or another agent."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, Field, JsonValue, StringConstraints, model_validator

from warex.benchmarks.table import Text
from warex.llm.actions.vocabulary import Vocabulary

SUBSETS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "chat": {"finish": ("send_msg_to_user",)},
    "infeas": {"finish": ("report_infeasible",), "infeasible": ("report_infeasible",)},
    "bid": {
        "navigate": ("click", "dblclick", "press"),
        "other": (
            *("fill", "select_option", "clear", "focus", "hover", "scroll"),
            *("drag_and_drop", "upload_file"),
        ),
    },
    "coord": {
        "navigate": ("mouse_click", "mouse_dblclick", "mouse_up", "keyboard_press", "keyboard_up"),
        "other": (
            *("scroll", "mouse_move", "mouse_down", "mouse_drag_and_drop", "mouse_upload_file"),
            *("keyboard_down", "keyboard_type", "keyboard_insert_text"),
        ),
    },
    "nav": {
        "navigate": ("goto", "go_back", "go_forward"),
        "recover": ("goto", "go_back", "go_forward"),
    },
    "tab": {"navigate": ("new_tab", "tab_focus", "tab_close"), "recover": ("new_tab",)},
}
"""The harness's actions by its subsets; `noop` is always available."""

type Subset = Literal["chat", "infeas", "bid", "coord", "nav", "tab"]

_ASKS_AGAIN: Final = "The page did not load, so I load it again.\n```goto('{url}')```"

DEMO: Final = ("chat", "bid", "infeas")
"""The demo agent's subsets: no action opens an address, goes back, or reloads."""


def vocabulary_for(name: str, subsets: Iterable[str]) -> Vocabulary:
    """Return the vocabulary of an agent with these subsets."""
    lists: dict[str, tuple[str, ...]] = {}
    for subset in subsets:
        for key, words in SUBSETS[subset].items():
            lists[key] = tuple(dict.fromkeys((*lists.get(key, ()), *words)))
    again = _ASKS_AGAIN if "goto" in lists.get("recover", ()) else ""
    return Vocabulary.model_validate(
        {"name": name, "noop": ("noop",), "asks_again": again, **lists}
    )


class CustomAgent(BaseModel, frozen=True, extra="forbid"):
    """The user's own agent in place of the demo agent."""

    file: Text = Field(description="A Python file.")
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*$")] = Field(
        description="A dataclass in it, made from agisdk's AbstractAgentArgs."
    )
    arguments: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="What it is made with; model_name is the agent's model where it has the field.",
    )


class CustomVocabulary(Vocabulary, frozen=True, extra="forbid"):
    """The agent's actions in lists."""

    name: str = "real-own-agent"


class RealOptions(BaseModel, frozen=True, extra="forbid"):
    """Options of the adapter; None is the harness's default."""

    version: Literal["v1", "v2"] = Field(default="v1", description="Which of REAL's task sets.")
    use_html: bool | None = Field(default=None, description="Whether the agent sees the HTML.")
    use_axtree: bool | None = Field(
        default=None, description="Whether the agent sees the accessibility tree."
    )
    use_screenshot: bool | None = Field(
        default=None, description="Whether the agent sees a screenshot."
    )
    actions: tuple[Subset, ...] | None = Field(
        default=None,
        description="Which of the harness's actions the demo agent has; left out, chat, bid and"
        " infeas. nav has goto, by which a page can be asked for again.",
    )
    agent: CustomAgent | None = Field(
        default=None, description="An agent in the demo agent's place."
    )
    vocabulary: CustomVocabulary | None = Field(
        default=None, description="Its actions, where they are not the harness's own."
    )

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.actions is not None and self.agent is not None:
            raise ValueError("actions are the demo agent's; your own agent brings its own")
        if self.vocabulary is not None and self.agent is None:
            raise ValueError("a vocabulary goes with agent; of the demo agent's it is known")
        if self.actions is not None and "chat" not in self.actions:
            raise ValueError("actions must hold chat: without a message no task is judged")
        return self
