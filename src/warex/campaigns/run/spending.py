"""The cost of trials, computed from their traces for the budget."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from warex.files.reading import open_regular_file
from warex.llm.prices.table import PriceTable, cost, price_key
from warex.traces import EVENTS, LlmCall

_MARK = b'"llm_call"'
"""Occurs in each relevant line; others are not parsed."""


@dataclass(frozen=True, slots=True)
class Spending:
    """Money and tokens spent."""

    usd: float = 0.0
    """US dollars at list prices, as far as these are known."""
    tokens: int = 0
    unpriced: frozenset[str] = frozenset()
    """Models without a price, whose cost is not in ``usd``."""

    def __add__(self, other: "Spending") -> "Spending":
        """Return the sum."""
        return Spending(
            self.usd + other.usd, self.tokens + other.tokens, self.unpriced | other.unpriced
        )


def attempt_spending(attempt: Path, prices: PriceTable) -> Spending:
    """Return an attempt's cost, also if it was interrupted; zero without a trace.

    Invalid lines are skipped: the trace's reader reports them.
    """
    total = Spending()
    # A trial without a proxy has no trace.
    with suppress(OSError), open_regular_file(attempt / EVENTS, follow=False) as lines:
        for line in lines:
            if _MARK in line:
                total += _of_call(line, prices)
    return total


_FIELDS = frozenset(LlmCall.__struct_fields__)


def _of_call(line: bytes, prices: PriceTable) -> Spending:
    try:
        call = msgspec.convert(
            {key: value for key, value in json.loads(line).items() if key in _FIELDS}, LlmCall
        )
    except (ValueError, msgspec.ValidationError, AttributeError, RecursionError):
        return Spending()
    usage = call.tokens
    if call.replayed or usage is None:
        return Spending()
    priced = cost(call.model, usage, prices)
    return Spending(
        0.0 if priced is None else priced.usd,
        usage.input_total + usage.output_total,
        frozenset() if priced is not None else frozenset({price_key(call.model, usage.tier)}),
    )
