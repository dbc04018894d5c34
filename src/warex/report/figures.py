"""How figures are written, the same in the terminal and in HTML.

What is not known is a dash: never 0, never an empty cell.
"""

from warex.analysis.intervals import Rate
from warex.analysis.table import Delta, Row

UNKNOWN = "—"

COLUMNS: tuple[tuple[str, str], ...] = (
    ("condition", "What was varied. no-proxy: without WAREX; clean: through it, without faults."),
    ("n", "Trials counted."),
    ("success", "Tasks done in full, with the Wilson 95 % interval."),
    ("Δ clean", "Success minus that of clean, in points, over trials that exist on both sides."),
    ("latency", "Mean client latency: from the agent's command start to its exit."),
    ("LLM calls", "Mean calls to the model in a trial."),
    ("steps", "Mean steps in a trial; a repeated call is the same step."),
    ("tokens in", "Mean tokens sent to the model in a trial, cached ones included."),
    ("tokens out", "Mean tokens the model wrote in a trial, reasoning included."),
    ("cost", "Mean cost of a trial in US dollars, at list prices."),
    ("recovery", "Trials in which the agent itself recovered from every fault, of those exposed."),
    ("exposure", "Trials that a fault really reached."),
    ("voids", "Attempts in which the harness broke; they say nothing and are run again."),
)
"""Name and meaning of each column of the table."""


def cells(row: Row, interval: bool = True) -> tuple[str, ...]:
    """Return a row's figures in the order of ``COLUMNS``; ``interval`` is that of success."""
    return (
        row.condition,
        str(row.n),
        success(row.success, interval),
        delta(row.delta),
        seconds(row.latency_s),
        mean(row.llm_calls),
        mean(row.steps),
        tokens(row.input_tokens),
        tokens(row.output_tokens),
        usd(row.usd),
        rate(row.recovery),
        rate(row.exposure),
        str(row.voids),
    )


def success(of: Rate, interval: bool = True) -> str:
    """Write a rate, with its interval if asked: ``5/6 83 % [44, 97]``."""
    if of.value is None:
        return UNKNOWN
    low, high = of.interval
    span = f" [{100 * low:.0f}, {100 * high:.0f}]" if interval else ""
    return f"{of} {100 * of.value:.0f} %{span}"


def rate(of: Rate | None) -> str:
    """Write a rate as ``k/n``."""
    return str(of) if of and of.n else UNKNOWN


def delta(of: Delta | None) -> str:
    """Write a difference of rates in percentage points, always with its sign."""
    return UNKNOWN if of is None else f"{100 * of.value:+.0f}"


def seconds(of: float | None) -> str:
    """Write a time."""
    return UNKNOWN if of is None else f"{of:.1f} s"


def mean(of: float | None) -> str:
    """Write a mean of counts."""
    return UNKNOWN if of is None else f"{of:.1f}"


def tokens(of: float | None) -> str:
    """Write a mean number of tokens."""
    return UNKNOWN if of is None else f"{of:,.0f}"


def usd(of: float | None) -> str:
    """Write an amount of US dollars with enough digits to tell two cheap trials apart."""
    if of is None:
        return UNKNOWN
    return f"${of:.2f}" if of >= 1 or of == 0 else f"${of:.4f}"
