"""Copies an LLM call as it passes, and reads it once it is over. The stream is never held back."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from mitmproxy.net import encoding

from warex.llm import LlmAnswer, LlmRequest, read_answer
from warex.llm.actions import Action, Progress, Vocabulary, read_actions
from warex.llm.images import detach_images
from warex.traces import AgentAction, LlmCall
from warex.traces.blobs import BlobStore
from warex.traces.llm_cache import Asking, KeptAnswer
from warex.traces.redact import redact_image, redact_json, redact_json_text, redact_url


@dataclass(slots=True)
class LlmTap:
    """One call of the agent to its model, under way."""

    request: LlmRequest
    url: str
    step: int
    began: float
    """Second of the trial at which the request arrived."""
    first_byte: float | None = None
    last_byte: float | None = None
    body: bytearray = field(default_factory=bytearray)
    asking: Asking | None = None
    """Which asking this is, where answers are kept."""
    asked_at: float = 0.0
    """Second of the trial at which the model was asked: no fault's hold counts as its latency."""
    replayed: KeptAnswer | None = None
    """The earlier answer that is given again."""

    def add(self, data: bytes, now: float) -> None:
        """Keep a copy of a piece of the answer."""
        if self.first_byte is None:
            self.first_byte = now
        self.last_byte = now
        self.body += data


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A call that is over: what the trace keeps of it, and what the agent does next."""

    event: LlmCall
    actions: tuple[AgentAction, ...]
    final: bool
    """Whether the agent has ended its task."""


def read_call(
    tap: LlmTap,
    exchange: str,
    *,
    status: int | None,
    content_type: str,
    content_encoding: str,
    error: str | None,
    now: float,
    vocabulary: Vocabulary | None,
    progress: Progress,
    blobs: BlobStore | None,
) -> ReadCall:
    """Read a call that is over; ``error`` says why there is no answer, if there is none.

    ``progress`` is the agent's, and is told of the actions.
    """
    answer = _answer(tap, status, content_type, content_encoding, error)
    messages, images = detach_images(tap.request.messages, redact_image)
    if blobs is not None:
        for image in images.values():
            blobs.put(image)
    usage = answer.usage
    event = LlmCall(
        exchange=exchange,
        family=tap.request.family,
        url=redact_url(tap.url),
        model=answer.model or tap.request.model,
        model_asked=tap.request.model,
        temperature=tap.request.sampling.temperature,
        top_p=tap.request.sampling.top_p,
        seed=tap.request.sampling.seed,
        step=tap.step,
        began=round(tap.began, 6),
        messages=redact_json(messages),
        tools=redact_json(tap.request.tools) if tap.request.tools else None,
        stream=tap.request.stream,
        status=status,
        answer=answer.text,
        tool_calls=[
            {"id": call.id, "name": call.name, "arguments": redact_json_text(call.arguments)}
            for call in answer.tool_calls
        ],
        finish_reason=answer.finish_reason,
        input_tokens=usage.input_total if usage else None,
        output_tokens=usage.output_total if usage else None,
        cached_tokens=usage.cache_read if usage else 0,
        cache_write_tokens=usage.cache_write if usage else 0,
        reasoning_tokens=usage.reasoning if usage else 0,
        usage=usage.source if usage else "none",
        latency_s=round(now - tap.began, 6),
        first_token_s=None if tap.first_byte is None else round(tap.first_byte - tap.began, 6),
        complete=answer.complete,
        error=answer.error,
        replayed=tap.replayed is not None,
        original_latency_s=None if tap.replayed is None else tap.replayed.latency_s,
    )
    if vocabulary is None or answer.error is not None:
        return ReadCall(event, (), final=False)
    actions = read_actions(answer, vocabulary)
    return ReadCall(
        event,
        tuple(_events(actions, vocabulary, exchange, tap.step)),
        final=progress.ends(actions, vocabulary),
    )


def _answer(
    tap: LlmTap, status: int | None, content_type: str, content_encoding: str, error: str | None
) -> LlmAnswer:
    if status is None:
        return LlmAnswer(model=tap.request.model, error=error or "no answer came")
    try:
        body = encoding.decode(bytes(tap.body), content_encoding or "identity")
    except ValueError:
        # A cut answer may end in the middle of a compressed block.
        body = b""
    if not isinstance(body, bytes):
        body = b""
    answer = read_answer(tap.request, status, content_type, body)
    if error is not None and answer.error is None and not answer.complete:
        return LlmAnswer(
            model=answer.model,
            text=answer.text,
            tool_calls=answer.tool_calls,
            finish_reason=answer.finish_reason,
            usage=answer.usage,
            error=error,
            complete=False,
        )
    return answer


def _events(
    actions: tuple[Action, ...], vocabulary: Vocabulary, exchange: str, step: int
) -> Iterable[AgentAction]:
    for action in actions:
        yield AgentAction(
            exchange=exchange,
            step=step,
            name=action.name,
            arguments=redact_json(
                list(action.arguments)
                if isinstance(action.arguments, tuple)
                else dict(action.arguments)
            ),
            role=_role(action.name, vocabulary),
        )


def _role(name: str, vocabulary: Vocabulary) -> Literal["finish", "recover", "navigate", "other"]:
    if name in vocabulary.finish:
        return "finish"
    if name in vocabulary.recover:
        return "recover"
    return "navigate" if name in vocabulary.navigate else "other"
