"""The columns of every table: name, meaning, and how a row fills them.

The same cell is shown in the terminal, in HTML, in LaTeX and in Markdown; a CSV file gets its bare
numbers, each in a column of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from warex.analysis.injections import Ledger
from warex.analysis.intervals import Rate
from warex.analysis.table import Delta, Mean, Row
from warex.report import figures
from warex.visible import counted, of_number

type Bare = str | int | float | None


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure as it is read, and its bare numbers."""

    text: str
    values: tuple[Bare, ...]
    """In the order of the column's ``keys``."""
    more: str = ""
    """What stands below it in small print."""
    href: str = ""
    """Relative to the run's folder."""
    look: str = ""
    """Class in HTML."""
    tags: tuple[str, ...] = ()
    """What a reader may ask to see alone."""


@dataclass(frozen=True, slots=True)
class Column:
    """What a column is called and what it means."""

    title: str
    meaning: str
    keys: tuple[str, ...]
    """Names of its bare numbers in CSV."""
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class RowColumn(Column):
    """A column that a row of the campaign's table fills."""

    fill: Callable[[Row], Cell] = lambda row: Cell("", ())


def plain(words: str) -> Cell:
    """Return a cell of text."""
    return Cell(words, (words,))


def count(number: int | None) -> Cell:
    """Return a cell with a number of things."""
    return Cell(figures.UNKNOWN if number is None else str(number), (number,))


def rate(of: Rate | None) -> Cell:
    """Return a rate with its share."""
    if of is None or not of.n:
        return Cell(figures.UNKNOWN, (None,) * 4)
    return Cell(figures.success(of, interval=False), (of.value, of.n, *of.interval))


def rate_with_interval(of: Rate | None) -> Cell:
    """Return a rate with its share and its interval."""
    if of is None or not of.n:
        return Cell(figures.UNKNOWN, (None,) * 4)
    return Cell(figures.success(of), (of.value, of.n, *of.interval))


def difference(of: Delta | None, n: int | None = None) -> Cell:
    """Return a difference in points with its interval, and its pairs where they are not ``n``."""
    if of is None:
        return Cell(figures.UNKNOWN, (None,) * 6)
    low, high = of.interval or (None, None)
    pairs = counted(of.pairs, "pair") if of.pairs != n else ""
    return Cell(figures.delta(of), (of.value, low, high, of.pairs, of.p, of.method), pairs)


def mean(of: Mean | None) -> Cell:
    """Return a mean with its interval."""
    if of is None:
        return Cell(figures.UNKNOWN, (None,) * 3)
    low, high = of.interval or (None, None)
    span = f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else ""
    return Cell(f"{of.value:.2f}{span}", (of.value, low, high))


def _effort(
    name: str, write: Callable[[float | None], str], more: Callable[[Row], str] = lambda row: ""
) -> Callable[[Row], Cell]:
    def fill(row: Row) -> Cell:
        value: float | None = getattr(row, name)
        low, high = getattr(row.intervals, name) or (None, None)
        return Cell(write(value), (value, low, high), more(row))

    return fill


def _cost(row: Row) -> Cell:
    found = _effort("usd", figures.usd)(row)
    borrowed = ", ".join(row.as_if) or None
    return replace(found, text=figures.usd(row.usd, row.as_if), values=(*found.values, borrowed))


def _price(row: Row) -> Cell:
    price = row.recovery_price
    if price is None:
        return Cell(figures.UNKNOWN, (None,) * 4)
    steps = f"{price.steps:.1f} {of_number(price.steps, 'step')}"
    return Cell(
        f"{figures.seconds(price.seconds)}, {steps}, {counted(round(price.tokens), 'token')}",
        (price.seconds, price.steps, price.tokens, price.n),
    )


def _tries(row: Row) -> Cell:
    found = mean(row.tries)
    return replace(found, text=found.text.partition(" [")[0])


def _pass_k(row: Row) -> Cell:
    if not row.pass_k:
        return Cell(figures.UNKNOWN, (None, None))
    k, value = row.pass_k[-1]
    return Cell(f"{100 * value:.0f} % (k {k})", (k, value))


def _p(value: Callable[[Delta], float | None]) -> Callable[[Row], Cell]:
    def fill(row: Row) -> Cell:
        found = value(row.delta) if row.delta else None
        return Cell(figures.p(found), (found,))

    return fill


def _cached(row: Row) -> str:
    parts = ((row.cached_tokens, "cached"), (row.cache_write_tokens, "written to the cache"))
    return ", ".join(f"{figures.tokens(count)} {what}" for count, what in parts if count)


def _reasoning(row: Row) -> str:
    return f"{figures.tokens(row.reasoning_tokens)} reasoning" if row.reasoning_tokens else ""


def _ledger(tell: Callable[[Ledger], Cell]) -> Callable[[Row], Cell]:
    """Tell of a row's ledger; where nobody kept one, nothing of it is known."""
    return lambda row: tell(row.ledger) if row.ledger else Cell(figures.UNKNOWN, (None,))


def _reasons(counts: tuple[tuple[str, int], ...]) -> Cell:
    words = ", ".join(f"{reason.replace('_', ' ')} {number}" for reason, number in counts)
    return plain(words or figures.UNKNOWN)


def _ends(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


def share(name: str) -> tuple[str, str, str, str]:
    """Return the names of a rate's bare numbers: 0 to 1, of how many, and its interval."""
    return name, f"{name}_n", f"{name}_low", f"{name}_high"


COLUMNS: tuple[RowColumn, ...] = (
    RowColumn(
        "condition",
        "What was varied. no-proxy: without WAREX; clean: through it, without faults.",
        ("condition",),
        True,
        lambda row: plain(row.condition),
    ),
    RowColumn("n", "Trials counted.", ("n",), False, lambda row: count(row.n)),
    RowColumn(
        "success",
        "Tasks done in full, with the Wilson 95 % interval.",
        share("success"),
        False,
        lambda row: rate_with_interval(row.success),
    ),
    RowColumn(
        "score",
        "Mean score, 0 to 1, where a trial was done in part: a partial score is no success.",
        _ends("score"),
        False,
        lambda row: mean(row.score),
    ),
    RowColumn(
        "Δ clean",
        "Success minus that of clean, in points, over trials that exist on both sides.",
        ("delta", "delta_low", "delta_high", "delta_pairs", "delta_p", "delta_method"),
        False,
        lambda row: difference(row.delta, row.n),
    ),
    RowColumn(
        "adj. p",
        "How often chance alone gives as much, adjusted for the number of conditions.",
        ("delta_p_holm",),
        False,
        _p(lambda delta: delta.p_holm),
    ),
    RowColumn(
        "Δ exposed",
        "Δ clean over the pairs that a fault really reached.",
        (
            "exposed_delta",
            "exposed_delta_low",
            "exposed_delta_high",
            "exposed_delta_pairs",
            "exposed_delta_p",
            "exposed_delta_method",
        ),
        False,
        lambda row: difference(
            row.exposed_delta, row.exposed_delta.pairs if row.exposed_delta else 0
        ),
    ),
    RowColumn(
        "R_fault",
        "Success under the fault over that of clean (1: unaffected, 0: no success left).",
        _ends("r_fault"),
        False,
        lambda row: mean(row.r_fault),
    ),
    RowColumn(
        "pass^k",
        "How likely k trials of one task are all solved, for the largest k.",
        ("pass_k", "pass_k_value"),
        False,
        _pass_k,
    ),
    RowColumn(
        "latency",
        "Mean client latency: from the agent's command start to its exit.",
        _ends("latency_s"),
        False,
        _effort("latency_s", figures.seconds),
    ),
    RowColumn(
        "LLM calls",
        "Mean calls to the model in a trial.",
        _ends("llm_calls"),
        False,
        _effort("llm_calls", figures.mean),
    ),
    RowColumn(
        "first token",
        "Mean time until a streamed answer of the model first says something.",
        _ends("first_token_s"),
        False,
        _effort("first_token_s", figures.seconds),
    ),
    RowColumn(
        "tokens/s",
        "Mean tokens a second of a streamed answer, from its first to its last.",
        _ends("tokens_per_s"),
        False,
        _effort("tokens_per_s", figures.mean),
    ),
    RowColumn(
        "steps",
        "Mean steps in a trial; a repeated call is the same step.",
        _ends("steps"),
        False,
        _effort("steps", figures.mean),
    ),
    RowColumn(
        "tokens in",
        "Mean tokens sent to the model in a trial, cached ones included.",
        _ends("input_tokens"),
        False,
        _effort("input_tokens", figures.tokens, _cached),
    ),
    RowColumn(
        "tokens out",
        "Mean tokens the model wrote in a trial, reasoning included.",
        _ends("output_tokens"),
        False,
        _effort("output_tokens", figures.tokens, _reasoning),
    ),
    RowColumn(
        "cost",
        'Mean cost of a trial in US dollars, at list prices; "as if": the model is'
        " scripted, and nobody paid.",
        (*_ends("usd"), "usd_as_if"),
        False,
        _cost,
    ),
    RowColumn(
        "total",
        "Cost of all counted trials together.",
        ("total_usd",),
        False,
        lambda row: Cell(figures.usd(row.total_usd, row.as_if), (row.total_usd,)),
    ),
    RowColumn(
        "RR",
        "Recovery rate: trials in which the agent itself recovered from every fault, of those with"
        " a delivered fault that can be judged.",
        share("recovery"),
        False,
        lambda row: rate(row.recovery),
    ),
    RowColumn(
        "RR per injection",
        "Injections the agent itself recovered from, of those that can be judged.",
        share("injections_recovered"),
        False,
        lambda row: rate(row.injections_recovered),
    ),
    RowColumn(
        "recovered and solved",
        "Trials recovered from every fault and solved: retrying is not recovering.",
        share("recovered_and_solved"),
        False,
        lambda row: rate(row.recovered_and_solved),
    ),
    RowColumn(
        "detected",
        "Exposed trials in which the model's words or actions show that it noticed a fault.",
        share("detected"),
        False,
        lambda row: rate(row.detected),
    ),
    RowColumn(
        "false success",
        "Trials in which the agent claimed a success that the check denied.",
        share("false_successes"),
        False,
        lambda row: rate(row.false_successes),
    ),
    RowColumn(
        "lies",
        "Answers that were not true: noticed, worked around, passed on as true, or not affected.",
        ("lies",),
        True,
        lambda row: _reasons(row.lies),
    ),
    RowColumn(
        "price",
        "What a recovery costs, from the fault to the right next request: means over recoveries.",
        ("recovery_seconds", "recovery_steps", "recovery_tokens", "recoveries"),
        False,
        _price,
    ),
    RowColumn(
        "tries",
        "How often the right request was made after a fault, by the agent or the browser: mean over"
        " the injections that can be judged, those not recovered from too.",
        _ends("tries"),
        False,
        _tries,
    ),
    RowColumn(
        "reloads",
        "Actions that ask again for the page that is open, over all trials (the paper's Figure 5).",
        ("reloads",),
        False,
        lambda row: count(row.reloads),
    ),
    RowColumn(
        "duplicated writes",
        "Writes a site was sent again, whole and the same, after a fault, though it had them.",
        ("duplicated_writes",),
        False,
        lambda row: count(row.duplicated_writes),
    ),
    RowColumn(
        "premature stops",
        "Exposed trials that the agent ended unsolved soon after the fault, without one right try.",
        share("premature_stops"),
        False,
        lambda row: rate(row.premature_stops),
    ),
    RowColumn(
        "fruitless",
        "Exposed trials that went on at length after the fault and were not solved.",
        share("fruitless"),
        False,
        lambda row: rate(row.fruitless),
    ),
    RowColumn(
        "healed",
        "Exposed trials in which the browser or the page healed a fault, not the agent.",
        ("healed",),
        False,
        lambda row: count(row.healed),
    ),
    RowColumn(
        "undecided",
        "Exposed trials outside the recovery rate.",
        ("undecided",),
        False,
        lambda row: count(row.undecided),
    ),
    RowColumn(
        "regime",
        "How the agent fails: early and cheaply, or late and at full cost (Appendix E).",
        ("regime", "regime_why"),
        True,
        lambda row: (
            Cell(row.regime.name, (row.regime.name, row.regime.why), row.regime.why)
            if row.regime
            else Cell(figures.UNKNOWN, (None, None))
        ),
    ),
    RowColumn(
        "exposure",
        "Trials that a fault really reached.",
        share("exposure"),
        False,
        lambda row: rate(row.exposure),
    ),
    RowColumn(
        "planned",
        "Faults that a rule decided on. What a browser tries again silently is the same one.",
        ("planned",),
        False,
        _ledger(lambda ledger: count(ledger.planned)),
    ),
    RowColumn(
        "delivered",
        "Of these, those that reached the client.",
        ("delivered",),
        False,
        _ledger(lambda ledger: count(ledger.delivered)),
    ),
    RowColumn(
        "missed",
        "Faults planned and not delivered.",
        ("missed",),
        False,
        _ledger(lambda ledger: count(sum(number for _, number in ledger.missed))),
    ),
    RowColumn(
        "why missed",
        "Their reasons.",
        ("why_missed",),
        True,
        _ledger(lambda ledger: _reasons(ledger.missed)),
    ),
    RowColumn(
        "not eligible",
        "Exchanges never planned for: not armed yet, or never to be touched.",
        ("left_alone",),
        True,
        _ledger(lambda ledger: _reasons(ledger.left_alone)),
    ),
    RowColumn(
        "replayed",
        "LLM calls answered out of the replay cache.",
        ("replayed_calls",),
        False,
        lambda row: count(row.replayed_calls),
    ),
    RowColumn(
        "voids",
        "Attempts in which the harness broke; no figure counts them. A trial has up to three.",
        ("voids",),
        False,
        lambda row: count(row.voids),
    ),
)
"""In the order of reading; a table shows some of them."""


def columns(*titles: str) -> tuple[RowColumn, ...]:
    """Return the columns of these titles. Raises KeyError for one that does not exist."""
    known = {column.title: column for column in COLUMNS}
    return tuple(known[title] for title in titles)
