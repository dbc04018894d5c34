import pytest

from tests.report.builders import mean, row
from warex.analysis.metrics.metric import Counts, Metric, Names, PassK
from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import Delta
from warex.report.tables.columns import cell, column
from warex.report.text.formatting import UNKNOWN

FULL = row(
    "down",
    3,
    4,
    delta=Delta(-0.25, 4, (-0.6, 0.1), 0.5, 1.0, "mcnemar"),
    delta_p_holm=1.0,
    delta_exposed=Delta(-0.5, 2),
    r_fault=Mean(0.75, (0.5, 1.0), 4),
    pass_k=PassK(((1, 0.75), (2, 0.5))),
    latency_s=mean(3.0, 2.0, 4.0),
    input_tokens=mean(2000.0),
    cached_tokens=mean(500.0),
    cache_write_tokens=mean(0.0),
    cost_usd=mean(0.0125),
    as_if=Names(("gpt-4o",)),
    recovery=Rate(3, 4),
    injection_recovery=Rate(1, 2),
    recovery_s=3.0,
    recovery_steps=1.0,
    recovery_tokens=2030.0,
    recoveries=4,
    tries=Mean(1.5, (1.0, 2.0), 2),
)


@pytest.mark.parametrize(
    ("metric", "text", "values"),
    [
        (ConditionRow.delta, "-25 [-60, +10]", (-0.25, -0.6, 0.1, 4, 0.5, "mcnemar", None, None)),
        (ConditionRow.delta_p_holm, "1.000", (1.0,)),
        (ConditionRow.delta_exposed, "-50", (-0.5, None, None, 2, None, None, None, None)),
        (ConditionRow.r_fault, "0.75 [0.50, 1.00]", (0.75, 0.5, 1.0, None, None, None)),
        (ConditionRow.pass_k, "50 % (k 2)", (0.5, 2, 0.0, 1.0)),
        (ConditionRow.latency_s, "3.0 s", (3.0, 2.0, 4.0, None, None, None)),
        (ConditionRow.input_tokens, "2,000", (2000, *[None] * 5, 500, *[None] * 5, 0, *[None] * 5)),
        (ConditionRow.cost_usd, "as if $0.0125", (0.0125, *[None] * 5, "gpt-4o")),
        (ConditionRow.recovery, "3/4 75 %", (0.75, 4, *Rate(3, 4).interval)),
        (ConditionRow.injection_recovery, "1/2 50 %", (0.5, 2, *Rate(1, 2).interval)),
        (ConditionRow.recovery_s, "3.0 s", (3.0, 4)),
        (ConditionRow.recovery_steps, "1.0", (1.0,)),
        (ConditionRow.recovery_tokens, "2,030", (2030.0,)),
        (ConditionRow.tries, "1.50", (1.5, 1.0, 2.0, None, None, None)),
        (ConditionRow.score, UNKNOWN, (None,) * 6),
    ],
    ids=lambda of: of.key if isinstance(of, Metric) else "",
)
def test_a_cell_is_read_as_text_and_kept_as_numbers(
    metric: Metric[object], text: str, values: tuple[object, ...]
) -> None:
    result = cell(metric, FULL)

    assert (result.text, result.values) == (text, values)


@pytest.mark.parametrize("of", [FULL, row("clean", 0, 0)], ids=["full", "bare"])
def test_every_column_has_as_many_numbers_as_names_for_them(of: ConditionRow) -> None:
    for metric in METRICS:
        result = cell(metric, of)
        assert result.text, metric.key
        assert len(result.values) == len(column(metric).csv_keys), metric.key


def test_what_nobody_watched_is_a_dash_and_an_empty_field() -> None:
    watched = (
        ConditionRow.reloads,
        ConditionRow.duplicated_writes,
        ConditionRow.healed,
        ConditionRow.undecided,
        ConditionRow.replayed_calls,
    )
    ledger = (
        ConditionRow.planned,
        ConditionRow.delivered,
        ConditionRow.missed,
        ConditionRow.missed_reasons,
        ConditionRow.skipped,
    )

    for metric in (*watched, *ledger):
        result = cell(metric, row("no-proxy"))
        assert (result.text, result.values) == (UNKNOWN, (None,)), metric.key
    assert cell(ConditionRow.reloads, row("clean", reloads=0)).text == "0"
    assert cell(ConditionRow.missed, row("clean", missed=0)).values == (0,)


def test_lies_are_classified_by_outcome() -> None:
    lies = Counts((("noticed", 2), ("passed_on", 1)))

    assert cell(ConditionRow.lies, row("down", lies=lies)).text == "noticed 2, passed on 1"


def test_pairs_are_shown_if_they_are_not_all_trials() -> None:
    assert cell(ConditionRow.delta, FULL).subtext == ""
    assert cell(ConditionRow.delta, row("down", 1, 5, delta=Delta(0.0, 4))).subtext == "4 pairs"


def test_the_parts_of_a_figure_are_below_it() -> None:
    assert cell(ConditionRow.input_tokens, FULL).subtext == "500 cached"
    assert cell(ConditionRow.cost_usd, FULL).subtext == "price of gpt-4o"
    assert cell(ConditionRow.recovery_s, FULL).subtext == "4 recoveries"
