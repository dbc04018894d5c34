"""The sampled tokens of an episode, as TRL takes them: OpenEnv's ``TrainingTrace``."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from warex.errors import InputError
from warex.llm.tokens import SAMPLING_DEFAULTS, CallTokens
from warex.rl.trace_entries import trace_entries
from warex.scenarios.mistakes import unknown_name
from warex.traces import LlmCall, LlmUnread, Trace


@dataclass(frozen=True, slots=True)
class TrainingTurn:
    """One call to the model, with the fields of OpenEnv's ``TrainingTurn``."""

    node_id: str
    prompt_token_ids: list[int]
    completion_token_ids: list[int]
    per_token_logps: list[float]
    loss_mask: list[int]
    """1 for a token to train on, of the prompt and the completion: the sampled ones of an answer
    that reached the agent whole."""
    request: dict[str, Any] = field(default_factory=dict)
    response: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TrainingTrace:
    """The calls of an episode of which the server returned token ids."""

    turns: list[TrainingTurn]
    schema_version: int = 1

    def to_trace_entries(self) -> list[dict[str, Any]]:
        """Return the turns as OpenEnv's ``TraceEntry``."""
        entries = [asdict(turn) for turn in self.turns]
        for entry in entries:
            entry["metadata"]["node_id"] = entry.pop("node_id")
        return entries


def training_trace(calls: Iterable[LlmCall], tokens: Mapping[str, CallTokens]) -> TrainingTrace:
    """Return what can be trained on of calls, in their order; ``tokens`` by their exchange."""
    entries = trace_entries(calls, tokens)
    return TrainingTrace(
        [
            TrainingTurn(
                entry["metadata"]["node_id"],
                entry["prompt_token_ids"],
                entry["completion_token_ids"],
                entry["per_token_logps"],
                entry["loss_mask"],
                entry["request"],
                entry["response"],
                entry["metadata"],
            )
            for entry in entries
            if "loss_mask" in entry
        ]
    )


def why_without_tokens(trace: Trace) -> str | None:
    """Return why an episode cannot be trained on although tokens were to be captured, or None."""
    calls = list(trace.events(LlmCall))
    failed = next((it for it in calls if it.tokens_error is not None), None)
    if failed is not None:
        return f"the call {failed.exchange} to the model has no tokens: {failed.tokens_error}"
    unread = next(iter(trace.events(LlmUnread)), None)
    if unread is not None:
        return f"a call to {unread.url} has no tokens, since it cannot be read: {unread.reason}"
    if not any(it.tokens_blob for it in calls):
        return "the agent made no call to the model of which tokens were captured"
    return None


def check_sampling(sampling: Mapping[str, float]) -> None:
    """Raise InputError if a policy's sampling cannot be compared with that of a call.

    Its parameters are those of ``SAMPLING_DEFAULTS``, each a finite number, the temperature above
    0.
    """
    for name, value in sampling.items():
        if name not in SAMPLING_DEFAULTS:
            known = list(SAMPLING_DEFAULTS)
            raise InputError(
                unknown_name("SessionFactory(sampling=…): unknown parameter", name, known)
            )
        if not (isinstance(value, int | float) and math.isfinite(value)):
            raise InputError(
                f"SessionFactory(sampling=…): the {name} {value!r} is not a finite number"
            )
    temperature = _sampling_value("temperature", sampling)
    if temperature <= 0:
        raise InputError(
            f"SessionFactory(sampling=…): the temperature {temperature!r} is not a number above 0;"
            " the log-probabilities of a policy that does not sample teach nothing"
        )


def why_sampled_otherwise(
    tokens: Mapping[str, CallTokens], sampling: Mapping[str, float]
) -> str | None:
    """Return why the calls' tokens are not those of the policy's sampling, or None.

    Compared are the parameters of ``SAMPLING_DEFAULTS``; ``tokens`` by their exchange.
    """
    for exchange, call in tokens.items():
        for name in SAMPLING_DEFAULTS:
            asked, wanted = (_sampling_value(name, it) for it in (call.sampling, sampling))
            if not math.isclose(asked, wanted):
                with_it = f"with the {name} {asked:g}"
                sampled = with_it if name in call.sampling else f"without a {name}"
                return (
                    f"the call {exchange} to the model was sampled {sampled}, and the policy"
                    f" samples with {wanted:g}: set the agent's"
                )
    return None


def _sampling_value(name: str, sampling: Mapping[str, float]) -> float:
    value = sampling.get(name, SAMPLING_DEFAULTS[name])
    return max(value, 0.0) if name == "top_k" else value  # vLLM: -1 and 0 are all tokens.
