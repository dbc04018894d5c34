"""Token ids and log-probabilities: asked of a model server, read from its answer, and hidden there.

Only of Chat Completions. What is hidden becomes ``null``, which is what these servers send where it
was not asked for; every other byte stays. Sources: OpenAI's API reference (``logprobs``), vLLM's
``protocol.py`` (``return_token_ids``) and ``serving.py`` (which events a stream has).
"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Struct, field
from pydantic import JsonValue

from warex.llm.body import json_splice
from warex.llm.body.json_splice import Span
from warex.llm.body.large_base64 import omit_base64
from warex.llm.body.lenient_json import as_dict, as_list, as_text, has_too_many_values
from warex.traffic import TokenDialect

API: Final = "openai_chat"
"""The only model API whose tokens can be captured."""
SAMPLING_DEFAULTS: Final[Mapping[str, float]] = {
    "temperature": 1.0,
    "top_p": 1.0,
    "top_k": 0.0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
"""The parameters of a request that change the distribution of its tokens, and what each is where
it is not named: of OpenAI's API and of vLLM's (``SamplingParams``)."""
_MOST_TOKENS: Final = 1_000_000
"""Of one call, with its prompt; more are not recorded."""
_MOST_ID: Final = 2**31
_LONGEST_SHOWN: Final = 80
_PROMPT: Final = "prompt_token_ids"
_IDS: Final = "token_ids"
_LOGPROBS: Final = "logprobs"


class ChoiceTokens(Struct):
    """The sampled tokens of one choice, in order."""

    index: int
    token_ids: list[int] = field(default_factory=list)
    """Empty if the server returns none."""
    logprobs: list[float] = field(default_factory=list)
    """The natural logarithm of each token's probability."""
    tokens: list[str] = field(default_factory=list)
    """Their texts, if the server returns no ids."""


class CallTokens(Struct, frozen=True):
    """The tokens of one call to a model."""

    prompt_token_ids: list[int]
    """Empty if the server returns none."""
    choices: list[ChoiceTokens]
    sampling: dict[str, float] = field(default_factory=dict)
    """The parameters of ``SAMPLING_DEFAULTS`` that the request names with a finite number."""

    @classmethod
    def read(cls, data: bytes) -> "CallTokens":
        """Read what ``written`` returned. Raises ValueError for anything else."""
        return msgspec.json.decode(data, type=cls)

    def written(self) -> bytes:
        """Return the tokens as JSON."""
        return msgspec.json.encode(self)


class TokenRequest(Struct, frozen=True):
    """A request to which tokens are added."""

    body: bytes
    """As the server gets it."""
    dialect: TokenDialect
    hidden: frozenset[str]
    """The members of the answer that the agent did not ask for."""
    sampling: dict[str, float]
    """As in ``CallTokens``."""


def ask_for_tokens(body: bytes, dialect: TokenDialect) -> TokenRequest:
    """Return a request that asks for tokens; ``body`` is decompressed.

    Raises ValueError if it cannot be asked so.
    """
    shorter, omitted = omit_base64(body)
    text = shorter.decode()
    members = {_LOGPROBS: _LOGPROBS}
    if dialect == "vllm":
        members["return_token_ids"] = _IDS
    hidden: set[str] = set()
    root = json_splice.root(text)
    asked, sampling = as_dict(root.value), _sampling_in(text, root)
    if asked.get("top_logprobs") is not None and asked.get(_LOGPROBS) is not True:
        raise ValueError("it asks for top_logprobs without logprobs, which its API refuses")
    for name, answered in members.items():
        root = json_splice.root(text)
        existing = json_splice.member(text, root, name)
        if existing is not None and existing.value is True:
            continue
        hidden.add(answered)
        if existing is None:
            text = json_splice.insert_member(text, root, name, True)
        else:
            text = json_splice.replace(text, existing, True)
    if _IDS in hidden:
        hidden.add(_PROMPT)
    return TokenRequest(omitted.restore(text.encode()), dialect, frozenset(hidden), sampling)


def _sampling_in(text: str, root: Span) -> dict[str, float]:
    """Return the parameters of ``SAMPLING_DEFAULTS`` in a request that are finite numbers."""
    values: dict[str, float] = {}
    for name in as_dict(root.value).keys() & SAMPLING_DEFAULTS.keys():
        place = json_splice.member(text, root, name)
        if place is not None and type(place.value) is int:
            values[name] = float(text[place.begin : place.end])
    return {name: value for name, value in values.items() if math.isfinite(value)}


class TokenReader:
    """Reads the tokens of one answer, and hides them."""

    def __init__(self, request: TokenRequest) -> None:
        self._request = request
        self._prompt: list[int] = []
        self._choices: dict[int, ChoiceTokens] = {}
        self._count = 0
        self._error: str | None = None

    def read(self, data: bytes, *, complete: bool) -> bytes | None:
        """Read an answer, or ``data`` of one event of it; return it as the agent is to get it.

        None: an event that the server sends only for its tokens. What is not an answer is returned
        as it is.
        """
        if has_too_many_values(data):
            self._error = self._error or "the answer has more values than are read"
            return data
        try:
            text = data.decode()
            value: JsonValue = json.loads(text)
        except (ValueError, RecursionError):
            return data
        answer = as_dict(value)
        choices = [as_dict(it) for it in as_list(answer.get("choices"))]
        self._note(answer, choices)
        places = sorted(self._places(text), key=lambda it: -it.begin)
        if not places:
            return data
        says_nothing = all(it.get("delta") == {} and not it.get("finish_reason") for it in choices)
        if not complete and choices and says_nothing and not self._is_asked_for_tokens:
            return None
        for place in places:
            text = json_splice.replace(text, place, None)
        return text.encode()

    @property
    def _is_asked_for_tokens(self) -> bool:
        """Whether the agent itself asks for any."""
        wanted = {_LOGPROBS, _IDS} if self._request.dialect == "vllm" else {_LOGPROBS}
        return not wanted <= self._request.hidden

    def tokens(self) -> CallTokens:
        """Return what was read. Raises ValueError, with the reason, if it cannot be used."""
        if self._error is not None:
            raise ValueError(self._error)
        choices = [self._choices[index] for index in sorted(self._choices)]
        if not any(choice.logprobs for choice in choices):
            raise ValueError("the model server returned no log-probabilities")
        has_ids = self._request.dialect == "vllm"
        if has_ids and not (self._prompt and any(choice.token_ids for choice in choices)):
            raise ValueError("the model server returned no token ids of prompt and answer")
        for choice in choices:
            if has_ids and len(choice.token_ids) != len(choice.logprobs):
                raise ValueError(
                    f"the choice {choice.index} has {len(choice.token_ids)} token ids and"
                    f" {len(choice.logprobs)} log-probabilities"
                )
            if has_ids:
                choice.tokens = []
        return CallTokens(self._prompt, choices, self._request.sampling)

    def _note(self, answer: dict[str, JsonValue], choices: list[dict[str, JsonValue]]) -> None:
        """Keep the tokens of an answer, or of one event."""
        if prompt := as_list(answer.get(_PROMPT)):
            self._prompt = self._integers(prompt)
        for position, choice in enumerate(choices):
            ids = self._integers(as_list(choice.get(_IDS)))
            entries = [as_dict(it) for it in as_list(as_dict(choice.get(_LOGPROBS)).get("content"))]
            if not (ids or entries) or not self._has_room(len(entries)):
                continue
            index = choice.get("index", position)
            index = index if type(index) is int and 0 <= index < _MOST_TOKENS else position
            known = self._choices.setdefault(index, ChoiceTokens(index))
            known.token_ids += ids
            for entry in entries:
                logprob = _finite(entry.get("logprob"))
                if logprob is None:
                    shown = repr(entry.get("logprob"))[:_LONGEST_SHOWN]
                    self._error = f"the model server returned {shown} as a log-probability"
                    return
                known.logprobs.append(logprob)
                token = as_text(entry.get("token"))
                known.tokens.append(token.encode(errors="replace").decode())

    def _integers(self, values: list[JsonValue]) -> list[int]:
        if not self._has_room(len(values)):
            return []
        ids = [it for it in values if type(it) is int and 0 <= it < _MOST_ID]
        if len(ids) != len(values):
            self._error = f"the model server returned token ids that are not 0 to {_MOST_ID - 1:,}"
        return ids

    def _has_room(self, count: int) -> bool:
        self._count += count
        if self._count > _MOST_TOKENS:
            self._error = f"the call has more than {_MOST_TOKENS:,} tokens"
        return self._error is None

    def _places(self, text: str) -> Iterator[Span]:
        """Yield the values to hide."""
        hidden = self._request.hidden
        root = json_splice.root(text)
        if not hidden or not isinstance(root.value, dict):
            return
        if _PROMPT in hidden:
            yield from _filled(text, root, _PROMPT)
        choices = json_splice.member(text, root, "choices")
        if choices is None or not isinstance(choices.value, list):
            return
        for choice in json_splice.items(text, choices):
            if not isinstance(choice.value, dict):
                continue
            for name in (_LOGPROBS, _IDS):
                if name in hidden:
                    yield from _filled(text, choice, name)


def _finite(value: JsonValue) -> float | None:
    """Return a number as a finite float; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # An integer beyond the floats.
        return None
    return number if math.isfinite(number) else None


def _filled(text: str, parent: Span, name: str) -> Iterator[Span]:
    """Yield an object's member unless it is missing or null."""
    if as_dict(parent.value).get(name) is not None:
        place = json_splice.member(text, parent, name)
        if place is not None:
            yield place
