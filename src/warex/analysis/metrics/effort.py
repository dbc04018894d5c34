"""Metrics of effort: time, calls to the model, tokens, cost."""

from collections.abc import Callable

from warex.analysis.metrics.metric import (
    KnownMetric,
    MeanMetric,
    Metric,
    Names,
    TotalMetric,
    TrialMetric,
)
from warex.analysis.metrics.sample import total_of
from warex.analysis.trial.record import TrialRecord
from warex.analysis.trial.usage import LlmUsage


def _llm[T](read: Callable[[LlmUsage], T | None]) -> Callable[[TrialRecord], T | None]:
    """Return a reader of a trial's calls to the model; it returns None if they are unknown."""
    return lambda trial: read(trial.llm) if trial.llm else None


class EffortMetrics:
    """The effort of a trial under a condition."""

    latency_s = MeanMetric(
        label="latency",
        unit="s",
        better="lower",
        section="effort",
        screen="effort",
        definition="Mean client latency: from the agent's command start to its exit.",
        trial=TrialMetric(
            float,
            lambda trial: trial.latency_s,
            "Client latency, as if each replayed answer had taken its first time.",
        ),
    )
    llm_calls = MeanMetric(
        label="LLM calls",
        unit="count",
        better="lower",
        section="effort",
        screen="effort",
        definition="Mean calls to the model in a trial.",
        trial=TrialMetric(
            int,
            _llm(lambda llm: len(llm.calls)),
            "Calls to the model; null, as all that rests on them, where some could not be read,"
            " or none of the agent was seen in the run.",
        ),
    )
    first_token_s = MeanMetric(
        label="first token",
        unit="s",
        better="lower",
        section="effort",
        screen="streaming",
        optional=True,
        definition="Mean time until a streamed answer of the model first says something.",
        trial=TrialMetric(
            float,
            _llm(lambda llm: llm.first_token_s),
            "Mean seconds until a streamed answer first said something; null without one.",
        ),
    )
    tokens_per_s = MeanMetric(
        label="tokens/s",
        unit="tokens/s",
        better="higher",
        section="effort",
        screen="streaming",
        optional=True,
        definition="Mean tokens a second of a streamed answer, from its first to its last.",
        trial=TrialMetric(
            float,
            _llm(lambda llm: llm.tokens_per_s),
            "Tokens a second of the streamed answers, from the first token to the last.",
        ),
    )
    steps = MeanMetric(
        unit="count",
        better="lower",
        section="effort",
        screen="effort",
        definition="Mean steps in a trial; a repeated call is the same step.",
        trial=TrialMetric(
            int, _llm(lambda llm: llm.steps), "The calls; repeats of one body are merged."
        ),
    )
    input_tokens = MeanMetric(
        unit="tokens",
        better="lower",
        section="effort",
        screen="effort",
        definition="Mean tokens sent to the model in a trial, cached ones included.",
        trial=TrialMetric(
            int, _llm(lambda llm: llm.input_tokens), "All prompts, cached tokens included."
        ),
    )
    cached_tokens = MeanMetric(
        label="cached",
        unit="tokens",
        beside="input_tokens",
        definition="The part of the input tokens that was read from a cache.",
        trial=TrialMetric(
            int, _llm(lambda llm: llm.cached_tokens), "The part of the input read from a cache."
        ),
    )
    cache_write_tokens = MeanMetric(
        label="written to the cache",
        unit="tokens",
        beside="input_tokens",
        definition="The part of the input tokens that was put into a cache.",
        trial=TrialMetric(
            int, _llm(lambda llm: llm.cache_write_tokens), "The part of the input put into a cache."
        ),
    )
    output_tokens = MeanMetric(
        unit="tokens",
        better="lower",
        section="effort",
        screen="effort",
        definition="Mean tokens the model wrote in a trial, reasoning included.",
        trial=TrialMetric(
            int, _llm(lambda llm: llm.output_tokens), "All answers, reasoning included."
        ),
    )
    reasoning_tokens = MeanMetric(
        label="reasoning",
        unit="tokens",
        beside="output_tokens",
        definition="The part of the output tokens that was reasoning.",
        trial=TrialMetric(
            int,
            _llm(lambda llm: llm.reasoning_tokens),
            "The part of the output that was reasoning.",
        ),
    )
    cost_usd = MeanMetric(
        label="cost",
        unit="US dollars",
        better="lower",
        section="effort",
        screen="effort",
        definition='Mean cost of a trial at list prices, replayed answers included; "as if": the'
        " model is scripted, and nobody paid.",
        trial=TrialMetric(
            float, _llm(lambda llm: llm.cost_usd), "What the calls cost, replayed ones included."
        ),
    )
    as_if = KnownMetric(
        kind=Names,
        compute=lambda of: Names(
            tuple(sorted({name for t in of.trials if t.llm for name in t.llm.as_if.values()}))
        ),
        label="price of",
        unit="text",
        beside="cost_usd",
        definition="The models whose prices stand in, where the agent's own has none.",
    )
    paid_usd = Metric(
        kind=float,
        compute=lambda of: total_of([t.llm.paid_usd if t.llm else None for t in of.trials]),
        label="paid",
        unit="US dollars",
        better="lower",
        section="effort",
        definition="Cost of all counted trials together, without replayed answers.",
        trial=TrialMetric(
            float, _llm(lambda llm: llm.paid_usd), "What was paid: without the replayed ones."
        ),
    )
    replayed_calls = TotalMetric(
        needs="calls",
        unit="count",
        section="effort",
        optional=True,
        definition="LLM calls answered out of the replay cache, over all trials.",
        trial=TrialMetric(
            int, _llm(lambda llm: llm.replayed), "Calls answered out of the replay cache."
        ),
    )
