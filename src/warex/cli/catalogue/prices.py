"""`warex prices`: what models cost, and where that is known from."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from warex.cli import completion
from warex.cli.group import listing
from warex.cli.options.parameters import PATH, json_option
from warex.cli.output import echo
from warex.errors import InputError, MachineError
from warex.text.english import count_noun, did_you_mean

if TYPE_CHECKING:
    from warex.llm.prices.sources import PriceSource
    from warex.llm.prices.table import PriceTable, Rates

_COLLECTIONS: Final = {
    "litellm": "https://raw.githubusercontent.com/BerriAI/litellm/main/"
    "model_prices_and_context_window.json",
    "openrouter": "https://openrouter.ai/api/v1/models",
}
_RATES: Final = {"input", "output", "cache_read", "cache_write", "cache_write_1h"}
_SECONDS: Final = 60
"""Time limit for fetching a collection."""
_NAMED: Final = 3
"""Most models that are named per reason."""


@listing("prices")
def command(as_json: bool) -> None:
    """Print where model prices come from; `show MODEL`; `update`."""
    from warex.llm.prices.user_table import current_prices, price_file

    table, path = current_prices(), price_file()
    if as_json:
        echo(table.model_dump_json(indent=2, exclude_none=True))
        return
    own = path is not None and path.exists()
    echo(f"prices of {table.date}, from {table.source}: {count_noun(len(table.models), 'model')}")
    echo(f"file    {path if own else 'none: these are the ones that come with WAREX'}")
    echo(f"sha256  {table.digest}")


@command.command("show")
@click.argument("model")
@json_option
def show(model: str, as_json: bool) -> None:
    """Print the prices of a model, named as in a trace or an API."""
    from warex.llm.prices.table import PricedAs
    from warex.llm.prices.user_table import current_prices

    table = current_prices()
    entry = table.entry(model)
    if entry is None:
        guess = did_you_mean(model, table.models) or "."
        raise InputError(
            f"the prices of {table.date} have no {model!r}{guess} Its cost is unknown, until"
            " `warex prices update` brings it or a campaign's [prices] says it"
        )
    if as_json:
        data = entry.model_dump(mode="json", exclude_none=True)
        echo(json.dumps({"model": model, "date": str(table.date), "source": table.source} | data))
        return
    price = table.price(model)
    assert price is not None, "the table's own check makes sure of it"
    whose = f", as if it were {entry.as_if}" if isinstance(entry, PricedAs) else ""
    echo(f"{model}: US dollars per million tokens{whose}")
    for tier, rates in (("", price), *price.tiers.items()):
        echo(f"  {tier or 'usual':10} {_words(rates)}")
        if rates.above is not None:
            echo(f"  {'':10} above {rates.above.tokens:,} tokens of prompt: {_words(rates.above)}")
    echo(f"prices of {table.date}, from {table.source}")


@command.command("update")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...", shell_complete=completion.FILE)
@click.option("-o", "--out", type=PATH, help="File to write. [default: the user's]")
@click.option(
    "--date",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Date of the prices. [default: today, or a file's]",
)
def update(sources: tuple[str, ...], out: Path | None, day: datetime | None) -> None:
    """Update the prices from public collections.

    A SOURCE is litellm, openrouter, or the URL or a copy of either; without one, both are used. The
    first that has a model decides; other prices stay. Nothing is written if any of them fails.
    """
    from warex.clock import Clock
    from warex.llm.prices.sources import merge_sources
    from warex.llm.prices.table import built_in_prices
    from warex.llm.prices.user_table import price_file
    from warex.traces.files import write_atomic
    from warex.traces.redaction.structured import redact_url

    path = out or price_file()
    if path is None:
        raise InputError("there is no home folder to keep the prices in; give --out FILE")
    named = [_COLLECTIONS.get(source, source) for source in sources or _COLLECTIONS]
    today = datetime.fromtimestamp(Clock().wall(), UTC).date()
    collections = {source: _read(source, today) for source in named}
    names = [redact_url(source) for source in collections]
    dated = day.date() if day else min(written for _, written in collections.values())
    if dated > today:
        raise InputError(f"--date {dated} lies ahead; today is {today}")
    before, base = _prices_before(), built_in_prices()
    try:
        table = merge_sources(
            base, [each for each, _ in collections.values()], dated, ", ".join(names)
        )
    except ValueError as error:
        raise InputError(f"{', '.join(names)} cannot be used: {error}") from None
    write_atomic(path, table.json_bytes())
    for source, (collection, written) in zip(names, collections.values(), strict=True):
        echo(f"{count_noun(len(collection.models), 'model')} from {source}, {written}")
        for why, models in _by_reason(collection.left_out).items():
            echo(f"  left out: {len(models)} with {why} ({_first(models)})")
    remaining = len(base.models.keys() - set().union(*(c.models for c, _ in collections.values())))
    echo(f"{count_noun(remaining, 'model')} that none of them has, from WAREX, {base.date}")
    changed = [
        name for name, entry in before.models.items() if table.models.get(name, entry) != entry
    ]
    echo(f"{count_noun(len(changed), 'price')} changed since {before.date} ({_first(changed)})")
    echo(f"written to {path}, sha256 {table.digest}")


def _words(rates: "Rates") -> str:
    usd_by_rate = rates.model_dump(exclude_none=True, include=_RATES)
    return ", ".join(f"{name.replace('_', ' ')} {usd:g}" for name, usd in usd_by_rate.items())


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "") or "none"


def _by_reason(left_out: Mapping[str, str]) -> dict[str, list[str]]:
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        by_reason.setdefault(why, []).append(name)
    return by_reason


def _prices_before() -> "PriceTable":
    """Return the current table, or the built-in one if that is damaged."""
    from warex.llm.prices.table import built_in_prices
    from warex.llm.prices.user_table import current_prices

    try:
        return current_prices()
    except InputError:
        return built_in_prices()


def _read(source: str, today: date) -> "tuple[PriceSource, date]":
    """Return a collection's prices and date. Raises InputError or MachineError."""
    from warex.files.reading import read_regular_file
    from warex.llm.body.lenient_json import parse_json
    from warex.llm.prices.sources import read_source
    from warex.llm.prices.user_table import LARGEST

    if source.startswith(("http://", "https://")):
        body, day = _fetched(source), today
    else:
        path = Path(source)
        try:
            body = read_regular_file(path, largest=LARGEST)
            day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
        except OSError as error:
            raise InputError(
                f"{source} cannot be read: {error.strerror or error}. Give"
                f" {', '.join(_COLLECTIONS)}, an address (https://…) or a file"
            ) from None
    try:
        sent = parse_json(body)
    except ValueError as error:
        raise InputError(f"{source} is not JSON: {error}") from None
    try:
        return read_source(sent), day
    except ValueError as error:
        raise InputError(f"{source} cannot be used: {error}") from None


def _fetched(url: str) -> bytes:
    """Return the body of a URL. Raises MachineError."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    from warex.clock import Clock
    from warex.llm.prices.user_table import LARGEST

    clock, body = Clock(), bytearray()
    try:
        with urlopen(url, timeout=_SECONDS) as answer:
            while piece := answer.read1(1 << 16):
                body += piece
                if len(body) > LARGEST:
                    raise OSError(f"it has more than {LARGEST:,} bytes")
                if clock.now() > _SECONDS:
                    raise TimeoutError(f"it takes longer than {_SECONDS} s")
    except (OSError, HTTPException, ValueError) as error:
        why = getattr(error, "reason", error)
        if isinstance(error, HTTPError):
            # Its reason is only the status phrase; it also keeps the response open.
            why = str(error)
            error.close()
        raise MachineError(
            f"{url} cannot be fetched: {why}. Fetch it elsewhere and give the file; the prices stay"
            " as they were"
        ) from None
    return bytes(body)
