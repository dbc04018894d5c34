"""Answers concurrent requests together, in one batch."""

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from warex.exports.rows import ChatMessage
from warex.training.inference.constraint import AnswerConstraint, Words
from warex.training.model.loading import LoadedModel
from warex.training.ranking.legal import LegalAnswer
from warex.training.trl_data import for_chat_template

type Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class Generation:
    """An answer so far."""

    text: str
    tokens: int
    finish: Finish | None = None
    """None while it grows. ``stop``: the model or a stop text ended it."""
    error: str = ""


@dataclass(slots=True)
class GenerationRequest:
    """A request for an answer."""

    prompt: str
    """As the chat template writes it."""
    adapter: str | None
    temperature: float
    top_p: float
    max_tokens: int
    stop: tuple[str, ...]
    deliver: Callable[[Generation], None]
    """Called from the batcher's thread, last with a finish or an error."""
    done: Callable[[str], bool] = lambda text: False
    """Returns whether a partial answer is sufficient."""
    legal: LegalAnswer | None = None
    """What the answer may be; None for anything."""
    cancelled: bool = False
    """Set when the client has gone."""

    @property
    def batch_key(self) -> tuple[str | None, float, float]:
        """What requests must share to be answered in one batch."""
        return self.adapter, self.temperature, self.top_p


class ChatModel(Protocol):
    """Answers requests for the server."""

    @property
    def context(self) -> int:
        """The most tokens of a prompt and its answer."""

    def written(
        self, messages: Sequence[ChatMessage], tools: list[dict[str, Any]] | None
    ) -> tuple[str, int]:
        """Return messages as the model reads them, and their number of tokens."""

    def ask(self, wanted: GenerationRequest) -> None:
        """Answer a request, now or later."""


@dataclass(slots=True)
class Batcher:
    """Owns a model: one thread answers up to ``size`` requests at once."""

    loaded: LoadedModel
    size: int = 8
    _asked: "queue.SimpleQueue[GenerationRequest | None]" = field(default_factory=queue.SimpleQueue)
    _waiting: list[GenerationRequest] = field(default_factory=list)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._work, name="batcher", daemon=True)
        self._thread.start()

    @property
    def context(self) -> int:
        """The most tokens of a prompt and its answer."""
        return getattr(self.loaded.model.config, "max_position_embeddings", None) or 2**31

    def written(
        self, messages: Sequence[ChatMessage], tools: list[dict[str, Any]] | None
    ) -> tuple[str, int]:
        """Return messages as the chat template writes them, and their number of tokens."""
        tokenizer = self.loaded.tokenizer
        text = tokenizer.apply_chat_template(
            for_chat_template(messages), tools=tools, add_generation_prompt=True, tokenize=False
        )
        return text, len(tokenizer(text, add_special_tokens=False)["input_ids"])

    def ask(self, wanted: GenerationRequest) -> None:
        """Queue a request."""
        self._asked.put(wanted)

    def close(self) -> None:
        """Stop answering and join the thread."""
        self._asked.put(None)
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while self._take_in():
            first = self._waiting[0]
            batch = [it for it in self._waiting if it.batch_key == first.batch_key][: self.size]
            taken = {id(it) for it in batch}
            self._waiting = [it for it in self._waiting if id(it) not in taken]
            batch = [it for it in batch if not it.cancelled]
            if batch:
                self._answer(batch)

    def _take_in(self) -> bool:
        """Wait for a request and take all that are queued; return False after ``close``."""
        asked = [] if self._waiting else [self._asked.get()]
        while not self._asked.empty():
            asked.append(self._asked.get())
        self._waiting += [it for it in asked if it is not None]
        return None not in asked

    def _answer(self, batch: Sequence[GenerationRequest]) -> None:
        try:
            generate(self.loaded, batch)
        except RuntimeError as error:
            # One batch that does not fit into memory must not end the others.
            why = " ".join(str(error).split())[:300]
            for wanted in batch:
                wanted.deliver(Generation("", 0, None, f"the model broke: {why}"))


def generate(loaded: LoadedModel, batch: Sequence[GenerationRequest]) -> None:
    """Answer requests with one ``batch_key``; deliver each answer as it grows."""
    import torch

    tokenizer = loaded.tokenizer
    tokenizer.padding_side = "left"
    inputs = tokenizer(
        [it.prompt for it in batch], return_tensors="pt", padding=True, add_special_tokens=False
    ).to(loaded.device)
    length = inputs["input_ids"].shape[1]
    ends = _ends(loaded)
    over = [False] * len(batch)

    def step(tokens: Any, scores: Any, **more: Any) -> Any:
        new = tokens[:, length:]
        texts = tokenizer.batch_decode(new, skip_special_tokens=True)
        last = new[:, -1].tolist()
        for at, wanted in enumerate(batch):
            if over[at]:
                continue
            text, finish = _cut(texts[at], wanted.stop)
            if last[at] in ends or wanted.done(text):
                finish = "stop"
            elif finish is None and new.shape[1] >= wanted.max_tokens:
                finish = "length"
            over[at] = finish is not None or wanted.cancelled
            wanted.deliver(Generation(text, new.shape[1], finish))
        return torch.tensor(over, device=tokens.device)

    sampling: dict[str, Any] = {"do_sample": False}
    if batch[0].temperature > 0:
        sampling = {"do_sample": True, "temperature": batch[0].temperature, "top_p": batch[0].top_p}
    with loaded.using(batch[0].adapter) as model, torch.inference_mode():
        model.generate(
            **inputs,
            **sampling,
            max_new_tokens=max(it.max_tokens for it in batch),
            pad_token_id=tokenizer.pad_token_id,
            stopping_criteria=[step],
            prefix_allowed_tokens_fn=_allowed(loaded, batch, length),
        )


def _allowed(
    loaded: LoadedModel, batch: Sequence[GenerationRequest], length: int
) -> Callable[[int, Any], Any] | None:
    """Return the tokens that may follow in each row, as transformers asks; None if all may.

    ``length`` is the number of a prompt's tokens.
    """
    if not any(it.legal and it.legal.texts for it in batch):
        return None
    import torch

    ends, words = _ends(loaded), _words(loaded)
    constraints = [
        AnswerConstraint(it.legal, words, ends) if it.legal and it.legal.texts else None
        for it in batch
    ]
    every = torch.arange(loaded.model.config.get_text_config().vocab_size)
    unended = every[~torch.isin(every, torch.tensor(sorted(ends)))]
    # Transformers asks for rows that have ended, too.
    nothing = sorted(ends) or [0]

    def allowed(row: int, tokens: Any) -> Any:
        constraint = constraints[row]
        if constraint is None:
            return every
        some = constraint.allowed(tokens[length:].tolist())
        return unended if some is None else some or nothing

    return allowed


def _words(loaded: LoadedModel) -> Words:
    tokenizer = loaded.tokenizer

    def encode(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    return Words(encode, lambda token: str(tokenizer.decode([token])))


def _ends(loaded: LoadedModel) -> frozenset[int]:
    ends = loaded.model.generation_config.eos_token_id
    several = ends if isinstance(ends, list) else [ends]
    return frozenset({*several, loaded.tokenizer.eos_token_id} - {None})


def _cut(text: str, stops: tuple[str, ...]) -> tuple[str, Finish | None]:
    """Return a text up to the first stop text, and ``"stop"`` if there was one."""
    at = min((index for stop in stops if (index := text.find(stop)) >= 0), default=None)
    return (text, None) if at is None else (text[:at], "stop")
