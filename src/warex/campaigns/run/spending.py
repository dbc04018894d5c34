"""What trials have cost, out of their traces: what a budget is held against."""

import json
from dataclasses import dataclass
from pathlib import Path

import msgspec

from warex.files.reading import open_regular_file
from warex.llm.prices.table import PriceTable, cost, price_key
from warex.traces import EVENTS, LlmCall

_MARK = b'"llm_call"'
"""Stands in each line of interest; all others need not be read."""


@dataclass(frozen=True, slots=True)
class Spending:
    """Money and tokens."""

    usd: float = 0.0
    """US dollars at list prices, as far as there are any."""
    tokens: int = 0
    """In and out."""
    unpriced: frozenset[str] = frozenset()
    """Models that the price table lacks: what they cost is not in ``usd``."""

    def __add__(self, other: "Spending") -> "Spending":
        """Return both together."""
        return Spending(
            self.usd + other.usd, self.tokens + other.tokens, self.unpriced | other.unpriced
        )


def attempt_spending(attempt: Path, prices: PriceTable) -> Spending:
    """Return what an attempt cost, also one that was cut off; nothing where there is no trace.

    A line that is no event is passed over: whoever reads the trace itself says what is wrong.
    """
    total = Spending()
    try:
        with open_regular_file(attempt / EVENTS, follow=False) as lines:
            for line in lines:
                if _MARK in line:
                    total += _of_call(line, prices)
    except OSError:
        # A trial without a proxy has no trace.
        return total
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
