"""Metrics of effort: time, calls to the model, tokens, cost."""

from collections.abc import Callable
from functools import partial

from warex.analysis.metrics.metric import (
    KnownMetric,
    MeanMetric,
    Metric,
    Names,
    TotalMetric,
    TrialMetric,
)
from warex.analysis.metrics.sample import price_models, total_of
from warex.analysis.trial.usage import LlmUsage

_effort = partial(MeanMetric, section="effort", screen="effort", better="lower")
_streaming = partial(MeanMetric, section="effort", screen="streaming", optional=True)


def _llm[T: (int, float)](
    kind: type[T], read: Callable[[LlmUsage], T | None], definition: str
) -> TrialMetric[T]:
    """Return a value of a trial's calls to the model; it is unknown if they are."""
    return TrialMetric(kind, lambda trial: read(trial.llm) if trial.llm else None, definition)


class EffortMetrics:
    """The effort of a trial under a condition."""

    latency_s = _effort(
        label="latency",
        unit="s",
        definition="Mean client latency: from the agent's command start to its exit.",
        trial=TrialMetric(
            float,
            lambda trial: trial.latency_s,
            "Client latency, with each replayed answer at its original duration.",
        ),
    )
    llm_calls = _effort(
        label="LLM calls",
        unit="count",
        definition="Mean calls to the model in a trial.",
        trial=_llm(
            int,
            lambda llm: len(llm.calls),
            "Calls to the model; null, like all figures derived from them, if some could not be"
            " read or the run has no call of the agent.",
        ),
    )
    first_token_s = _streaming(
        label="first token",
        unit="s",
        better="lower",
        definition="Mean time to the first token of a streamed answer of the model.",
        trial=_llm(
            float,
            lambda llm: llm.first_token_s,
            "Mean seconds to the first token of a streamed answer; null without such an answer.",
        ),
    )
    tokens_per_s = _streaming(
        label="tokens/s",
        unit="tokens/s",
        better="higher",
        definition="Mean tokens a second of a streamed answer, from its first to its last.",
        trial=_llm(
            float,
            lambda llm: llm.tokens_per_s,
            "Tokens a second of the streamed answers, from the first token to the last.",
        ),
    )
    steps = _effort(
        unit="count",
        definition="Mean steps in a trial; a repeated call is the same step.",
        trial=_llm(int, lambda llm: llm.steps, "The calls; repeats of one body are merged."),
    )
    input_tokens = _effort(
        unit="tokens",
        definition="Mean tokens sent to the model in a trial, cached ones included.",
        trial=_llm(int, lambda llm: llm.input_tokens, "All prompts, cached tokens included."),
    )
    cached_tokens = MeanMetric(
        unit="tokens",
        label="cached",
        beside="input_tokens",
        definition="The part of the input tokens that was read from a cache.",
        trial=_llm(int, lambda llm: llm.cached_tokens, "The part of the input read from a cache."),
    )
    cache_write_tokens = MeanMetric(
        unit="tokens",
        label="written to the cache",
        beside="input_tokens",
        definition="The part of the input tokens that was put into a cache.",
        trial=_llm(
            int, lambda llm: llm.cache_write_tokens, "The part of the input put into a cache."
        ),
    )
    output_tokens = _effort(
        unit="tokens",
        definition="Mean tokens the model wrote in a trial, reasoning included.",
        trial=_llm(int, lambda llm: llm.output_tokens, "All answers, reasoning included."),
    )
    reasoning_tokens = MeanMetric(
        unit="tokens",
        label="reasoning",
        beside="output_tokens",
        definition="The part of the output tokens that was reasoning.",
        trial=_llm(
            int, lambda llm: llm.reasoning_tokens, "The part of the output that was reasoning."
        ),
    )
    cost_usd = _effort(
        label="cost",
        unit="US dollars",
        definition='Mean cost of a trial at list prices, replayed answers included; "as if": the'
        " model is scripted, and nobody paid.",
        trial=_llm(float, lambda llm: llm.cost_usd, "What the calls cost, replayed ones included."),
    )
    as_if = KnownMetric(
        kind=Names,
        compute=lambda of: Names(price_models(of.trials)),
        label="price of",
        unit="text",
        beside="cost_usd",
        definition="The models whose prices are used where the agent's own has none.",
    )
    paid_usd = Metric(
        kind=float,
        compute=lambda of: total_of([t.llm.paid_usd if t.llm else None for t in of.trials]),
        label="paid",
        unit="US dollars",
        better="lower",
        section="effort",
        definition="Cost of all counted trials together, without replayed answers.",
        trial=_llm(float, lambda llm: llm.paid_usd, "What was paid: without the replayed ones."),
    )
    replayed_calls = TotalMetric(
        needs="calls",
        unit="count",
        section="effort",
        optional=True,
        definition="LLM calls answered from the replay cache, over all trials.",
        trial=_llm(int, lambda llm: llm.replayed, "Calls answered from the replay cache."),
    )
