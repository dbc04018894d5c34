"""The catalogue of LLM APIs: one file per family.

To add one: write its file, its test, its section in docs/reference/llm.md, and name it below.
tests/llm/families/test_catalogue.py names whichever is missing. Other distributions add families
by entry points of the group ``warex.llm_apis``.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final

from warex.llm.families.anthropic_messages import AnthropicMessages
from warex.llm.families.base import LlmApi
from warex.llm.families.bedrock_converse import BedrockConverse
from warex.llm.families.bedrock_invoke import BedrockInvoke
from warex.llm.families.cohere import Cohere
from warex.llm.families.gemini import Gemini
from warex.llm.families.ollama import Ollama
from warex.llm.families.openai_chat import OpenAiChat
from warex.llm.families.openai_responses import OpenAiResponses
from warex.plugins import PluginGroup, subclass_of

LLM_APIS: tuple[LlmApi, ...] = (
    OpenAiChat(),
    OpenAiResponses(),
    AnthropicMessages(),
    Gemini(),
    Ollama(),
    BedrockConverse(),
    BedrockInvoke(),
    Cohere(),
)
"""WAREX's own."""
_BY_NAME: Final = {family.name: family for family in LLM_APIS}

__all__ = [
    "LLM_APIS",
    "LlmApi",
    "api_names",
    "apis",
    "family_named",
    "is_api_path",
    "is_counting_path",
    "prompt_keys",
]


def _accept(name: str, value: object) -> LlmApi:
    """Return a family of another distribution; raise ValueError if it is invalid."""
    family = subclass_of(LlmApi, value)  # type: ignore[type-abstract]
    if (own_name := getattr(family, "name", None)) != name:
        raise ValueError(f"has the name {own_name!r}, not {name!r}")
    for attribute in ("summary", "answer_description", "path_endings"):
        if not getattr(family, attribute, None):
            raise ValueError(f"does not have {attribute}")
    return family()


_PLUGINS: Final = PluginGroup("warex.llm_apis", lambda: _BY_NAME, _accept)


def api_names() -> tuple[str, ...]:
    """Return the names of all families, WAREX's first."""
    return (*_BY_NAME, *_PLUGINS.names())


def family_named(name: str) -> LlmApi:
    """Return the family of a name.

    Raises KeyError if there is none, MachineError if it is of another distribution and cannot be
    used.
    """
    family = _BY_NAME.get(name) or _PLUGINS.load(name)
    if family is None:
        raise KeyError(name)
    return family


def apis() -> Iterator[LlmApi]:
    """Yield all families, WAREX's first; the others are loaded only if the caller goes so far."""
    yield from LLM_APIS
    yield from _installed().families


def is_api_path(path: str) -> bool:
    """Whether a path without query belongs to a family's calls; takes under 2 µs."""
    return path.endswith(_OWN.endings) or path.endswith(_installed().endings)


def is_counting_path(path: str) -> bool:
    """Whether a path without query only counts tokens."""
    return path.endswith((*_OWN.counting_endings, *_installed().counting_endings))


def prompt_keys() -> tuple[str, ...]:
    """Return the keys of the prompts of all families."""
    return (*_OWN.prompt_keys, *_installed().prompt_keys)


class _Families:
    """Some families, and what all of them have."""

    def __init__(self, families: tuple[LlmApi, ...]) -> None:
        self.families = families
        self.endings = tuple(it for family in families for it in family.path_endings)
        self.counting_endings = tuple(it for family in families for it in family.counting_endings)
        self.prompt_keys = tuple(it for family in families for it in family.prompts)


_OWN: Final = _Families(LLM_APIS)


@cache
def _installed() -> _Families:
    """Return the families of other distributions that can be used."""
    return _Families(_PLUGINS.load_all())
