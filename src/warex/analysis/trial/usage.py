"""Totals of an agent's calls to its model: calls, steps, tokens, cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Self

from warex.analysis.trial.attribution import TaskRun, tasks_by_exchange
from warex.llm.prices.table import PriceTable, cost, price_key
from warex.traces.events import Entry, LlmCall, LlmUnread

_AS_IF = ", as if {}"


@dataclass(frozen=True, slots=True)
class CallCost:
    """One call with its cost."""

    seq: int
    step: int
    model: str
    input_tokens: int | None
    """Tokens of the prompt, including cached ones; None if nothing was generated."""
    cached_tokens: int
    """The part of the input that was read from a cache."""
    cache_write_tokens: int
    """The part of the input that was written to a cache."""
    output_tokens: int | None
    """Tokens of the answer, including reasoning."""
    reasoning_tokens: int
    usage: str
    """``reported``, ``estimated``, ``partial`` or ``none``."""
    latency_s: float
    first_token_s: float | None
    """Seconds until the first token of a streamed answer; None if it was not streamed."""
    tokens_per_s: float | None
    """From the first token of a streamed answer to its last; None if unknown."""
    cost_usd: float | None
    """None if the table has no price for the model."""
    as_if: str | None
    """The model whose price is used, if this one has none of its own."""
    arithmetic: str
    """How ``cost_usd`` is computed, in words."""
    error: str | None = None
    replayed: bool = False
    """Whether the answer is an earlier trial's: it has a cost, but was not paid again."""
    original_latency_s: float | None = None
    saved_s: float = 0.0
    """Seconds by which a replayed answer was faster than the original."""
    run: tuple[str, int] | None = None
    """The run of a task that it belongs to, if one command ran several."""
    service_tier: str = ""
    """The API's price tier; empty for the default one."""

    @property
    def priced_by(self) -> str:
        """The key into the price table: the model, with its tier unless that is the default."""
        return price_key(self.model, self.service_tier)


@dataclass(frozen=True, slots=True)
class LlmUsage:
    """All calls of one trial."""

    calls: tuple[CallCost, ...]

    @property
    def steps(self) -> int:
        """Number of steps; a call with a repeated body belongs to the same step."""
        return len({(call.run, call.step) for call in self.calls})

    @property
    def input_tokens(self) -> int:
        """Tokens of all prompts, including cached ones."""
        return sum(call.input_tokens or 0 for call in self.calls)

    @property
    def cached_tokens(self) -> int:
        """The part of ``input_tokens`` that was read from a cache."""
        return sum(call.cached_tokens for call in self.calls)

    @property
    def cache_write_tokens(self) -> int:
        """The part of ``input_tokens`` that was written to a cache."""
        return sum(call.cache_write_tokens for call in self.calls)

    @property
    def output_tokens(self) -> int:
        """Tokens of all answers, including reasoning."""
        return sum(call.output_tokens or 0 for call in self.calls)

    @property
    def reasoning_tokens(self) -> int:
        """The part of ``output_tokens`` that was reasoning."""
        return sum(call.reasoning_tokens for call in self.calls)

    @property
    def first_token_s(self) -> float | None:
        """Mean seconds to the first token of streamed answers; None without one."""
        known = [c.first_token_s for c in self.calls if c.first_token_s is not None]
        return fmean(known) if known else None

    @property
    def tokens_per_s(self) -> float | None:
        """Mean over streamed answers, weighted by their tokens; None without one."""
        known = [(c.tokens_per_s, c.output_tokens) for c in self.calls if c.tokens_per_s]
        tokens = sum(count or 0 for _, count in known)
        return tokens / sum((count or 0) / speed for speed, count in known) if known else None

    @property
    def cost_usd(self) -> float | None:
        """The cost of all calls; None if one of them has no price."""
        prices = [call.cost_usd for call in self.calls]
        return None if None in prices else sum(price for price in prices if price is not None)

    @property
    def paid_usd(self) -> float | None:
        """``cost_usd`` without the replayed answers."""
        prices = [0.0 if call.replayed else call.cost_usd for call in self.calls]
        return None if None in prices else sum(price for price in prices if price is not None)

    @property
    def replayed(self) -> int:
        """Calls answered with an earlier trial's answer."""
        return sum(call.replayed for call in self.calls)

    @property
    def saved_s(self) -> float:
        """Seconds by which replayed answers were faster than the originals."""
        return sum(call.saved_s for call in self.calls)

    @property
    def as_if(self) -> dict[str, str]:
        """Models that are priced as another one, with the name of that one."""
        return {call.model: call.as_if for call in self.calls if call.as_if}

    def scripted(self) -> Self:
        """Return the usage of a model that is scripted by WAREX: it has no price of its own."""
        return replace(self, calls=tuple(map(_scripted, self.calls)))

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Models without a price, and tiers of models that have one."""
        return tuple(sorted({call.priced_by for call in self.calls if call.cost_usd is None}))

    @property
    def estimated_calls(self) -> int:
        """Number of calls whose tokens the API did not fully report."""
        return sum(call.usage in ("estimated", "partial") for call in self.calls)


def llm_usage(entries: Sequence[Entry], prices: PriceTable) -> LlmUsage:
    """Return the usage of the calls in a trace."""
    of = tasks_by_exchange(entries)
    calls = ((e.seq, e.event) for e in entries if isinstance(e.event, LlmCall))
    return LlmUsage(tuple(_cost(seq, call, prices, of.get(call.carrier)) for seq, call in calls))


def llm_unread(entries: Iterable[Entry]) -> tuple[tuple[str, str], ...]:
    """Return what looks like calls to a model and could not be read: URL without query, and why."""
    events = (entry.event for entry in entries)
    return tuple((it.url.partition("?")[0], it.reason) for it in events if type(it) is LlmUnread)


def _cost(seq: int, call: LlmCall, prices: PriceTable, run: TaskRun | None) -> CallCost:
    usd, as_if, arithmetic = _price(call, prices)
    return CallCost(
        seq=seq,
        step=call.step,
        model=call.model,
        input_tokens=call.input_tokens,
        cached_tokens=call.cached_tokens,
        cache_write_tokens=call.cache_write_tokens,
        output_tokens=call.output_tokens,
        reasoning_tokens=call.reasoning_tokens,
        usage=call.usage,
        latency_s=call.latency_s,
        first_token_s=call.first_token_s if call.stream and not call.replayed else None,
        tokens_per_s=call.tokens_per_s,
        cost_usd=usd,
        as_if=as_if,
        arithmetic=arithmetic,
        error=call.error,
        replayed=call.replayed,
        original_latency_s=call.original_latency_s,
        saved_s=call.saved_s,
        run=run,
        service_tier=call.service_tier,
    )


def _scripted(call: CallCost) -> CallCost:
    if call.as_if or not call.cost_usd:
        return call
    arithmetic = f"{call.arithmetic}{_AS_IF.format(call.model)}"
    return replace(call, as_if=call.model, arithmetic=arithmetic)


def _price(call: LlmCall, prices: PriceTable) -> tuple[float | None, str | None, str]:
    usage = call.tokens
    if usage is None:
        return 0.0, None, "nothing was generated"
    priced, price = cost(call.model, usage, prices), prices.rates(call.model, usage)
    if priced is None or price is None:
        lacking = price_key(call.model, usage.tier)
        return None, None, f"the price table of {prices.date} has no {lacking!r}"
    terms = [f"{usage.input_plain} in at ${price.input:g}"]
    if usage.cache_read:
        terms.append(f"{usage.cache_read} cached at ${price.of_cache_read:g}")
    if usage.cache_write_5m:
        terms.append(f"{usage.cache_write_5m} written to the cache at ${price.of_cache_write:g}")
    if usage.cache_write_1h:
        lasting = price.of_cache_write_1h
        terms.append(f"{usage.cache_write_1h} written to the cache for an hour at ${lasting:g}")
    terms.append(f"{usage.output_total} out at ${price.output:g}")
    tier = f", tier {usage.tier}" if usage.tier else ""
    whose = tier + (_AS_IF.format(priced.as_if) if priced.as_if else "")
    words = f"({' + '.join(terms)}) / 1,000,000 = ${priced.usd:.6f}{whose}"
    return priced.usd, priced.as_if, words
