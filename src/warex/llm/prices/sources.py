"""Reads public collections of prices into a price table.

LiteLLM's ``model_prices_and_context_window.json`` and OpenRouter's ``/api/v1/models`` give US
dollars for one token. Unreadable and implausible prices are left out and reported.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from statistics import median
from typing import Final

from pydantic import JsonValue, ValidationError

from warex.llm.body.lenient_json import as_dict, as_list, as_text
from warex.llm.prices.table import Price, PriceTable
from warex.text.english import first_validation_error
from warex.text.lazy_pattern import lazy_re

_MOST: Final = 10_000
"""The highest plausible price, in US dollars per million tokens."""
_FAR: Final = 10
"""The highest plausible factor between the prices of two collections."""
_GLOB: Final = frozenset("*?[")
_MODES: Final = ("", "chat", "completion", "responses")
"""LiteLLM's modes of models that generate text."""
_RATES: Final = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write",
}
_KEY = lazy_re(rf"({'|'.join(_RATES)})(_above_1hr)?(?:_above_(\d+)k_tokens)?(?:_([a-z]+))?")
_TIERS: Final = {"batches": "batch"}
"""LiteLLM's names of tiers that differ from the APIs'."""
_ROUTED: Final = {
    "prompt": "input",
    "completion": "output",
    "input_cache_read": "cache_read",
    "input_cache_write": "cache_write",
    "input_cache_write_1h": "cache_write_1h",
}
_OWN_PREFIXES: Final = (
    "anthropic/", "cohere/", "cohere_chat/", "deepseek/", "gemini/", "google/", "mistral/",
    "mistralai/", "openai/", "perplexity/", "x-ai/", "xai/",
)  # fmt: skip
"""Prefixes of vendors whose own API has the model without it, at this price."""

NO_TOKENS: Final = "no price per token"
NOTHING: Final = "a price of 0, which says more often that it is unknown"
OTHERWISE: Final = "prices that change with the hour or are taken by request"
LENGTHS: Final = "more than one limit of a prompt's length"
IMPOSSIBLE: Final = "a price that is negative or cannot be right"
A_GLOB: Final = "a name that is a pattern"


@dataclass(frozen=True, slots=True)
class PriceSource:
    """The prices in a collection for models that generate text."""

    models: Mapping[str, Price]
    left_out: Mapping[str, str]
    """Models that are left out, and why."""


class _LeftOut(Exception):
    """A model is left out; the message says why."""


def read_source(data: JsonValue) -> PriceSource:
    """Read a collection of LiteLLM or OpenRouter, or a price table of WAREX.

    Raises ValueError if it is another file, or has no usable price.
    """
    sent = as_dict(data)
    listed = as_list(sent.get("data"))
    if "models" in sent and "date" in sent:
        return _own_prices(sent)
    if listed:
        entries = ((as_text(as_dict(one).get("id")), as_dict(one)) for one in listed)
        collection = _collected(entries, _routed)
    else:
        collection = _collected(((name, as_dict(entry)) for name, entry in sent.items()), _listed)
    if not collection.models:
        raise ValueError(
            "it has no prices of models: give LiteLLM's model_prices_and_context_window.json,"
            " OpenRouter's /api/v1/models or a table that `warex prices update` wrote"
        )
    return collection


def merge_sources(
    base: PriceTable, collections: Iterable[PriceSource], day: date, source: str
) -> PriceTable:
    """Merge collections into a table; earlier ones take precedence, then ``base``.

    Raises ValueError if a collection's prices differ so much from ``base`` that they must be in
    another unit.
    """
    models: dict[str, Price] = {}
    for collection in collections:
        _check_unit(collection.models, base)
        models = {**collection.models, **models}
    for name, price in list(models.items()):
        bare = next((name.removeprefix(p) for p in _OWN_PREFIXES if name.startswith(p)), name)
        if "/" not in bare and ":" not in bare:
            models.setdefault(bare, price)
    unchanged = {name: entry for name, entry in base.models.items() if name not in models}
    return PriceTable(date=day, source=source, models={**dict(sorted(models.items())), **unchanged})


def _check_unit(models: Mapping[str, Price], base: PriceTable) -> None:
    ratios = [
        price.input / known.input
        for name, price in models.items()
        if isinstance(known := base.models.get(name), Price) and known.input and price.input
    ]
    if len(ratios) >= 3 and not 1 / _FAR <= median(ratios) <= _FAR:
        raise ValueError(
            f"the {len(ratios)} models that WAREX knows cost {median(ratios):g} times as much in"
            " it: it is in another unit than US dollars for one token"
        )


def _own_prices(sent: JsonValue) -> PriceSource:
    try:
        table = PriceTable.model_validate(sent)
    except ValidationError as error:
        raise ValueError(f"it is not a price table: {first_validation_error(error)}") from None
    return PriceSource({k: e for k, e in table.models.items() if isinstance(e, Price)}, {})


type _Entry = Mapping[str, JsonValue]


def _collected(
    entries: Iterable[tuple[str, _Entry]], read: Callable[[_Entry], Price | None]
) -> PriceSource:
    models: dict[str, Price] = {}
    left_out: dict[str, str] = {}
    for name, entry in entries:
        try:
            price = read(entry)
            if price is None:
                continue
            if not name or _GLOB & set(name):
                raise _LeftOut(A_GLOB)
            models[name] = price
        except _LeftOut as why:
            left_out[name] = str(why)
        except ValidationError:
            left_out[name] = IMPOSSIBLE
    return PriceSource(models, left_out)


def _listed(entry: _Entry) -> Price | None:
    """Return the price of an entry of LiteLLM; None for a model that does not generate text."""
    if as_text(entry.get("mode")) not in _MODES:
        return None
    if "off_peak_pricing" in entry or "input_cost_per_request" in entry:
        raise _LeftOut(OTHERWISE)
    tiers: dict[str, dict[int, dict[str, float]]] = {}
    for key, value in entry.items():
        if match := _KEY.fullmatch(key):
            rate, lasting, limit, tier = match.groups()
            name = "cache_write_1h" if lasting else _RATES[rate]
            tier = _TIERS.get(tier, tier) or ""
            tiers.setdefault(tier, {}).setdefault(1000 * int(limit or 0), {})[name] = _usd(value)
    for part in map(as_dict, as_list(entry.get("tiered_pricing"))):
        begin = as_list(part.get("range"))[:1]
        at = int(begin[0]) if begin and isinstance(begin[0], int | float) else 0
        rates = {_RATES[key]: _usd(value) for key, value in part.items() if key in _RATES}
        tiers.setdefault("", {}).setdefault(at, {}).update(rates)
    usual = _by_length(tiers.pop("", {}))
    if usual is None:
        raise _LeftOut(NO_TOKENS)
    if not usual["input"] and not usual["output"]:
        raise _LeftOut(NOTHING)
    others = {tier: _by_length(rates) for tier, rates in sorted(tiers.items())}
    return Price.model_validate({**usual, "tiers": {k: each for k, each in others.items() if each}})


def _by_length(lengths: Mapping[int, Mapping[str, float]]) -> dict[str, object] | None:
    """Return rates with those of a long prompt; None if input or output has none.

    Missing rates of a long prompt are the usual ones.
    """
    usual: dict[str, object] = {**lengths.get(0, {})}
    if "input" not in usual or "output" not in usual:
        return None
    above = [{**usual, **rates, "tokens": at} for at, rates in lengths.items() if at]
    if len(above) > 1:
        raise _LeftOut(LENGTHS)
    return {**usual, "above": above[0]} if above else usual


def _routed(entry: _Entry) -> Price | None:
    """Return the price of an entry of OpenRouter."""
    pricing = as_dict(entry.get("pricing"))
    if "prompt" not in pricing or "completion" not in pricing:
        raise _LeftOut(NO_TOKENS)
    rates = {name: _usd(pricing[key]) for key, name in _ROUTED.items() if key in pricing}
    if pricing.get("overrides") or _usd(pricing.get("request", 0)):
        raise _LeftOut(OTHERWISE)
    if not rates["input"] and not rates["output"] and ":free" not in as_text(entry.get("id")):
        raise _LeftOut(NOTHING)
    return Price.model_validate(rates)


def _usd(value: JsonValue) -> float:
    """Convert a price of one token, a number or a string, to US dollars per million."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _LeftOut(IMPOSSIBLE)
    try:
        usd = float(Decimal(str(value)) * 1_000_000)
    except (InvalidOperation, OverflowError):
        raise _LeftOut(IMPOSSIBLE) from None
    if not 0 <= usd <= _MOST:
        raise _LeftOut(IMPOSSIBLE)
    return usd
