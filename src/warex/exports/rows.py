"""The rows of a data set: prompts and the wanted answers.

Messages are OpenAI's chat messages, which TRL reads: ``role``, ``content`` (a text, or a list of
parts in a data set with images) and ``tool_calls``.
"""

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer, field_validator

from warex.exports.names import Kind

type ChatMessage = dict[str, Any]


def _tools(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) and value else value or None


def _as_text(value: list[Any] | None) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None


type Tools = Annotated[
    list[dict[str, Any]] | None, BeforeValidator(_tools), PlainSerializer(_as_text)
]
"""JSON schemas of the tools; in a file one text, since a column has one type."""


class RowMetadata(BaseModel, frozen=True, extra="forbid"):
    """The origin of a row."""

    id: str
    kind: Kind
    action: str
    relabelled: bool = False
    """Whether the wanted answer replaces the model's own."""
    rewritten: bool = False
    """Whether the agent's words beside its actions were removed, here or in the prompt."""
    cut: int = 0
    """Elements cut from the end of the page, so that the prompt is short enough."""
    benchmark: str
    agent: str
    condition: str
    task: str
    site: str
    """Host of the step's page."""
    group: str = ""
    """The kind of site, if the benchmark names it."""
    url: str = ""
    """URL of the step's page, redacted."""
    fault: str = ""
    """Kind of the fault; empty for a clean row. The same for the next two."""
    category: str = ""
    page_family: str = ""
    run: str
    trial: str
    """The attempt's folder, relative to the run's."""
    step: int
    """Number of the agent's step in its trial, from 1."""
    vocabulary: str
    """Key into the manifest's vocabularies."""
    tools: Tools = None
    images: tuple[str, ...] = ()
    """Files below the data set's folder, in the order of the image parts."""


def _are_of_chat(messages: list[ChatMessage]) -> list[ChatMessage]:
    for message in messages:
        if not isinstance(message.get("role"), str):
            raise ValueError("a message has no role")
        if not isinstance(message.get("content"), str | list | None):
            raise ValueError("a message's content is neither a text nor a list of parts")
    return messages


type Chat = Annotated[list[ChatMessage], Field(min_length=1), BeforeValidator(_are_of_chat)]


class Row(RowMetadata, frozen=True):
    """A prompt with the wanted answer as the last message, on which the loss is computed."""

    messages: Chat

    @field_validator("messages")
    @classmethod
    def _last(cls, messages: list[ChatMessage]) -> list[ChatMessage]:
        if messages[-1].get("role") != "assistant":
            raise ValueError("the last message is not the assistant's")
        return messages

    @property
    def prompt(self) -> list[ChatMessage]:
        """All messages but the answer."""
        return self.messages[:-1]

    @property
    def answer(self) -> ChatMessage:
        """The wanted answer."""
        return self.messages[-1]


class PreferencePair(RowMetadata, frozen=True):
    """Two answers to one prompt (DPO)."""

    prompt: Chat
    chosen: Chat
    rejected: Chat
    rejected_model: str = ""
    """Whose answer was rejected; empty in data sets of earlier versions."""


class LabelledAnswer(RowMetadata, frozen=True):
    """One answer to a prompt, labelled wanted or not (KTO)."""

    prompt: Chat
    completion: Chat
    label: bool
