"""Every figure of a table against a run that was worked out by hand (``worked_example``).

No value here was read off the code. Of the intervals only what must hold of them is asked.
"""

from collections.abc import Mapping

import pytest

from tests.analysis.worked_example import PRICES, make_run
from warex.analysis.metrics.metric import Counts, Names
from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.run.load import load_run
from warex.analysis.stats.dose_response import Dose, DosePoint
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import DefenceEffect, Delta
from warex.analysis.table.tabulate import Table, tabulate

# Of the patient agent in the order of the conditions; the other one ran those in RAN only.
CONDITIONS = (
    "no-proxy",
    "clean",
    "again",
    "again-late",
    "shop-down",
    "shop-down-2",
    "shop-down-4",
    "shop-down-hint",
)
RAN = ("clean", "again-late", "shop-down-2", "shop-down-4")
FAULTS = CONDITIONS[4:]

type Expected = tuple[float, int, int, int, str | None, float | None, float | None]
"""Of a difference: value, pairs, lost, won, method, p, p after Holm."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return tabulate(load_run(make_run(tmp_path_factory.mktemp("run")), PRICES))


def _figure(row: ConditionRow, name: str) -> object:
    """A row's figure; of a mean the value."""
    result = getattr(row, name)
    return result.value if isinstance(result, Mean) else result


def _patient(table: Table, name: str) -> list[object]:
    return [_figure(row, name) for row in table.of("patient")]


def _giveup(table: Table, name: str) -> list[object]:
    return [_figure(table.row("giveup", condition), name) for condition in RAN]


def _as_expected(delta: Delta | None) -> Expected | None:
    if delta is None:
        return None
    return (
        delta.value,
        delta.pairs,
        delta.lost,
        delta.won,
        delta.method,
        delta.p,
        delta.p_holm,
    )


def _same(results: Mapping[str, object], wanted: Mapping[str, object]) -> None:
    assert list(results) == list(wanted)
    for name, value in wanted.items():
        assert results[name] == pytest.approx(value), name


def _holds(interval: tuple[float, float] | None, value: float, low: float, high: float) -> None:
    assert interval is not None
    # Sums of floats differ from exact ones in their last bits.
    assert low - 1e-9 <= interval[0] - 1e-9 <= value <= interval[1] + 1e-9 <= high + 1e-9


# ---- what is counted


def test_each_agent_has_a_row_for_each_condition_in_the_campaign_s_order(table: Table) -> None:
    assert [(row.agent, row.condition) for row in table.rows] == [
        *(("patient", condition) for condition in CONDITIONS),
        *(("giveup", condition) for condition in CONDITIONS),
    ]


def test_a_row_carries_what_the_campaign_says_of_its_condition(table: Table) -> None:
    for agent in ("patient", "giveup"):
        rows = table.of(agent)
        assert [row.scenario for row in rows] == [None] * 4 + ["shop-down"] * 4
        assert [row.defence for row in rows] == [None] * 7 + ["hint"]
        assert [row.control for row in rows] == [False, False, True, True, *[False] * 4]
        two, four = (Dose("intensity", value, "shop-down") for value in (2.0, 4.0))
        assert [row.dose for row in rows] == [None] * 5 + [two, four, None]


def test_a_trial_counts_once_and_a_void_trial_never(table: Table) -> None:
    # Five tasks in two repeats, but for one that was not run without proxy; else in one repeat.
    assert _patient(table, "n") == [9, 10, 10, 5, 10, 5, 5, 5]
    # "move" is void under clean, and counts under the other conditions all the same.
    assert _giveup(table, "n") == [4, 5, 5, 5]
    assert table.left_out == (("giveup", "clean", ("testbed", "move", 1)),)
    # One of them was followed by an attempt that counts.
    assert _patient(table, "voids") == [0, 1, 0, 0, 0, 0, 0, 0]
    assert _giveup(table, "voids") == [1, 0, 0, 0]
    assert table.unfinished == 1
    assert _giveup(table, "scheduled") == [5, 5, 5, 5]
    assert table.row("giveup", "shop-down").scheduled == 1


def test_success_is_counted_over_valid_trials(table: Table) -> None:
    assert _patient(table, "success") == [
        Rate(9, 9),
        Rate(8, 10),
        Rate(7, 10),
        Rate(5, 5),
        Rate(6, 10),
        Rate(4, 5),
        Rate(0, 5),
        Rate(5, 5),
    ]
    assert _giveup(table, "success") == [Rate(3, 4), Rate(2, 5), Rate(3, 5), Rate(2, 5)]
    for row in table.rows:
        if row.success.value is not None:
            _holds(row.success.interval, row.success.value, 0, 1)


def test_pass_k_is_the_chance_that_k_trials_of_a_task_are_all_solved(table: Table) -> None:
    results = {row.condition: row.pass_k.by if row.pass_k else () for row in table.of("patient")}
    wanted = {
        # "move" has one trial, which says nothing of two.
        "no-proxy": ((1, 1), (2, 1)),
        # Solved of two: 2 2 2 1 1, so (1 + 1 + 1 + 1/2 + 1/2) / 5 and (1 + 1 + 1 + 0 + 0) / 5.
        "clean": ((1, 4 / 5), (2, 3 / 5)),
        # 1 2 1 2 1: (1/2 + 1 + 1/2 + 1 + 1/2) / 5 and (0 + 1 + 0 + 1 + 0) / 5.
        "again": ((1, 7 / 10), (2, 2 / 5)),
        "again-late": (),
        # 1 2 1 0 2: (1/2 + 1 + 1/2 + 0 + 1) / 5 and (0 + 1 + 0 + 0 + 1) / 5.
        "shop-down": ((1, 3 / 5), (2, 2 / 5)),
        "shop-down-2": (),
        "shop-down-4": (),
        "shop-down-hint": (),
    }
    for condition, pairs in wanted.items():
        assert dict(results[condition]) == pytest.approx(dict(pairs)), condition
    assert _giveup(table, "pass_k") == [None] * 4


# ---- differences from clean


def test_a_difference_is_the_condition_minus_clean_over_pairs(table: Table) -> None:
    """p is the share of the 2^d ways to sign the d tasks that differ which lie further from 0, and
    half of those as far. With one repeat it is McNemar's mid-p.

    Holm's family are the conditions with faults of both agents, four and two: 1/32 * 6, 6/16 * 5
    and so on, at most 1 and never falling. What the proxy does by itself and the controls are none
    of its questions.
    """
    several, one = "clustered", "mcnemar"
    _same(
        {row.condition: _as_expected(row.delta) for row in table.of("patient")},
        {
            # "mail" 2 was solved without the proxy only. One task differs: half of 2 of 2 ways.
            "no-proxy": (1 / 9, 9, 0, 1, several, 1 / 2, None),
            "clean": None,
            # "add" 2 and "find" 1 lost, "mail" 2 won: the tasks' sums -1, -1, +1: of 8
            # ways 2 give a sum of 3, 6 one of 1.
            "again": ((1 - 2) / 10, 10, 2, 1, several, (2 + 6 / 2) / 8, None),
            "again-late": (0 / 5, 5, 0, 0, one, 1, None),
            # "add" 2, "find" 1, "mail" 1 lost, "move" 2 won: -1, -1, -1, +1, of which the sum is
            # -2. Of 16 ways 6 give a sum of 0, 8 one of 2, 2 one of 4.
            "shop-down": ((1 - 3) / 10, 10, 3, 1, several, (2 + 8 / 2) / 16, 1),
            # "buy" lost.
            "shop-down-2": (-1 / 5, 5, 1, 0, one, 1 / 2, 1),
            "shop-down-4": (-5 / 5, 5, 5, 0, one, (1 / 2) ** 5, 6 * (1 / 2) ** 5),
            "shop-down-hint": (0 / 5, 5, 0, 0, one, 1, 1),
        },
    )
    _same(
        {condition: _as_expected(table.row("giveup", condition).delta) for condition in RAN},
        {
            "clean": None,
            # "buy" and "find" lost: half of 2 ways of 4.
            "again-late": (-2 / 4, 4, 2, 0, one, 1 / 4, None),
            # "add" and "find" lost, "mail" won, as above.
            "shop-down-2": ((1 - 2) / 4, 4, 2, 1, one, (2 + 6 / 2) / 8, 1),
            # "add", "buy" and "find" lost, "mail" won.
            "shop-down-4": ((1 - 3) / 4, 4, 3, 1, one, (2 + 8 / 2) / 16, 1),
        },
    )


def test_what_faults_did_is_reported_over_the_trials_they_reached(table: Table) -> None:
    _same(
        {row.condition: _as_expected(row.delta_exposed) for row in table.of("patient")},
        {
            **dict.fromkeys(CONDITIONS[:4]),
            # All but "move" 2, the only one won: the tasks' sums -1, -1, -1; half of 2
            # ways of 8. In Holm's order the second of six.
            "shop-down": (-3 / 9, 9, 3, 0, "clustered", 1 / 8, 5 / 8),
            # "add" kept, "buy" lost.
            "shop-down-2": (-1 / 2, 2, 1, 0, "mcnemar", 1 / 2, 1),
            "shop-down-4": (-5 / 5, 5, 5, 0, "mcnemar", (1 / 2) ** 5, 6 * (1 / 2) ** 5),
            "shop-down-hint": (0 / 4, 4, 0, 0, "mcnemar", 1, 1),
        },
    )
    _same(
        {
            condition: _as_expected(table.row("giveup", condition).delta_exposed)
            for condition in RAN
        },
        {
            "clean": None,
            "again-late": None,
            "shop-down-2": (-2 / 2, 2, 2, 0, "mcnemar", 1 / 4, 1),
            # All four, as above.
            "shop-down-4": ((1 - 3) / 4, 4, 3, 1, "mcnemar", (2 + 8 / 2) / 16, 1),
        },
    )


def test_every_difference_lies_in_its_interval(table: Table) -> None:
    for row in table.rows:
        for delta in (row.delta, row.delta_exposed):
            if delta is not None:
                _holds(delta.interval, delta.value, -1, 1)


def test_r_fault_is_success_under_faults_over_that_of_clean(table: Table) -> None:
    results = {
        (row.agent, row.condition): (row.r_fault.value, row.r_fault.n)
        for row in table.rows
        if row.r_fault
    }
    assert results == {
        ("patient", "shop-down"): (pytest.approx(6 / 8), 10),
        # All five were solved under clean in the first repeat.
        ("patient", "shop-down-2"): (pytest.approx(4 / 5), 5),
        ("patient", "shop-down-4"): (0, 5),
        ("patient", "shop-down-hint"): (pytest.approx(5 / 5), 5),
        ("giveup", "shop-down-2"): (pytest.approx(2 / 3), 4),
        ("giveup", "shop-down-4"): (pytest.approx(1 / 3), 4),
    }
    for row in table.rows:
        if row.r_fault:
            _holds(row.r_fault.interval, row.r_fault.value, 0, float("inf"))


# ---- effort and money


def test_latency_is_from_start_to_exit_as_if_no_answer_had_been_replayed(table: Table) -> None:
    # Under clean "mail" 1 took 2 seconds, with an answer in 1/2 that had taken 5/2: counted as 4.
    clean = 3 + 3 + 5 + 4 + 6 + 6 + (2 + 2) + 3 + 2 + 4
    faulty = 9 + 11 + 12 + 8 + 20 + 7 + 3 + 4 + 10 + 6
    assert _patient(table, "latency_s") == pytest.approx(
        [
            (2 + 2 + 3 + 3 + 4 + 4 + 2 + 2 + 1) / 9,
            clean / 10,
            3,
            2,
            faulty / 10,
            (8 + 3 + 4 + 4 + 6) / 5,
            (2 + 3 + 4 + 3 + 3) / 5,
            (6 + 10 + 7 + 7 + 5) / 5,
        ]
    )
    assert _giveup(table, "latency_s") == [
        (2 + 3 + 4 + 3) / 4,
        (4 * 4 + 50) / 5,
        (1 + 2 + 1 + 4 + 50) / 5,
        (4 * 1 + 50) / 5,
    ]


def test_a_call_sent_twice_is_one_step(table: Table) -> None:
    # clean: six calm ones, one cached, one replayed, two calls each of the other two.
    # shop-down: recovers 2, waits 4, two tries 2, orders 2, in vain 6, three more of 1, gives up
    # twice 2. At intensity 2: recovers, gives up, three calm ones.
    assert _patient(table, "llm_calls") == pytest.approx(
        [None, (6 + 1 + 1 + 2 + 2) / 10, 1, 1, (2 + 4 + 2 + 2 + 6 + 3 + 4) / 10, 7 / 5, 2, 9 / 5]
    )
    assert _patient(table, "steps") == pytest.approx(
        [None, (6 + 1 + 1 + 1 + 2) / 10, 1, 1, (2 + 4 + 2 + 2 + 6 + 3 + 4) / 10, 7 / 5, 2, 9 / 5]
    )
    for figure in ("llm_calls", "steps"):
        assert _giveup(table, figure) == [1, 1, (2 + 1 + 2 + 1 + 1) / 5, (2 + 2 + 2 + 1 + 1) / 5]


def test_tokens_are_means_over_trials(table: Table) -> None:
    # In the order: clean, shop-down, at intensity 2, 4, with the hint.
    assert _patient(table, "input_tokens") == pytest.approx(
        [
            None,
            (6 * 1000 + 1500 + 1000 + 2000 + 2200) / 10,
            1000,
            1000,
            (3000 + 4000 + 2000 + 2000 + 6000 + 3 * 1000 + 2 * 2000) / 10,
            (3000 + 2000 + 3 * 1000) / 5,
            2000,
            (3 * 3000 + 2000 + 1000) / 5,
        ]
    )
    assert _patient(table, "output_tokens") == pytest.approx(
        [
            None,
            (6 * 10 + 20 + 10 + 20 + 30) / 10,
            10,
            10,
            (40 + 40 + 20 + 20 + 60 + 3 * 10 + 2 * 20) / 10,
            (40 + 20 + 3 * 10) / 5,
            20,
            (3 * 40 + 20 + 10) / 5,
        ]
    )
    assert _patient(table, "cached_tokens") == [None, 500 / 10, 0, 0, 0, 0, 0, 0]
    assert _patient(table, "reasoning_tokens") == [None, 5 / 10, 0, 0, 0, 0, 0, 0]
    assert _giveup(table, "input_tokens") == [1000, 1000, 7000 / 5, 8000 / 5]
    assert _giveup(table, "output_tokens") == [10, 10, 70 / 5, 80 / 5]
    assert _giveup(table, "cached_tokens") == [0] * 4
    assert _giveup(table, "reasoning_tokens") == [0] * 4


def test_cost_is_tokens_times_price_without_replayed_answers(
    table: Table,
) -> None:
    # 2 in, 1 cached, 10 out, USD per million; the tokens as above.
    clean = 12_200 * 2 + 500 * 1 + 140 * 10
    sums = [
        clean,
        10 * (1000 * 2 + 10 * 10),
        5 * (1000 * 2 + 10 * 10),
        24_000 * 2 + 250 * 10,
        8_000 * 2 + 90 * 10,
        10_000 * 2 + 100 * 10,
        12_000 * 2 + 150 * 10,
    ]
    ns = (10, 10, 5, 10, 5, 5, 5)
    each = [total / 1e6 / n for total, n in zip(sums, ns, strict=True)]
    assert _patient(table, "cost_usd") == pytest.approx([None, *each])
    spent = [clean - (1000 * 2 + 10 * 10), *sums[1:]]
    assert _patient(table, "paid_usd") == pytest.approx([None, *(s / 1e6 for s in spent)])
    assert _patient(table, "replayed_calls") == [None, 1, 0, 0, 0, 0, 0, 0]
    totals = [
        4 * (1000 * 2 + 10 * 10) / 1e6,
        5 * (1000 * 2 + 10 * 10) / 1e6,
        (7000 * 2 + 70 * 10) / 1e6,
        (8000 * 2 + 80 * 10) / 1e6,
    ]
    assert _giveup(table, "paid_usd") == pytest.approx(totals)
    assert _giveup(table, "cost_usd") == pytest.approx(
        [total / n for total, n in zip(totals, (4, 5, 5, 5), strict=True)]
    )
    assert _giveup(table, "replayed_calls") == [0] * 4


def test_every_mean_lies_in_its_interval_and_nothing_unknown_has_one(table: Table) -> None:
    for row in table.rows:
        for metric in METRICS:
            mean = metric.of(row)
            if metric.section == "effort" and isinstance(mean, Mean):
                _holds(mean.interval, mean.value, 0, float("inf"))
    # Under the control all trials are alike, so that there is nothing to draw.
    again = table.row("patient", "again")
    alike = {again.latency_s: 3, again.llm_calls: 1, again.input_tokens: 1000}
    assert [mean and mean.interval for mean in alike] == [(one, one) for one in alike.values()]


# ---- faults and recovery


def test_exposure_is_the_share_of_trials_that_a_fault_reached(table: Table) -> None:
    # "move" 2 has an injection that was missed; the calm ones have none at all.
    exposure = [Rate(9, 10), Rate(2, 5), Rate(5, 5), Rate(4, 5)]
    assert _patient(table, "exposure") == [None] * 4 + exposure
    assert _giveup(table, "exposure") == [None, None, Rate(2, 5), Rate(4, 5)]
    # Half is not less than half.
    assert [(r.agent, r.condition) for r in table.underexposed] == [
        ("patient", "shop-down-2"),
        ("giveup", "shop-down-2"),
    ]


def test_recovery_is_reported_by_trial_and_by_injection_and_with_success(table: Table) -> None:
    # Of nine exposed trials one was only late, and two were solved without recovering: "find" 2,
    # which the browser healed, and "buy" 2, which ordered twice. So six are judged. Recovered:
    # "add" 1 and 2 and "buy" 1, of which "add" 2 was not solved. Not: "find" 1 in vain, "mail" 1
    # and 2 given up. "buy" 1 met two injections and recovered from both: 4 of 7.
    none = [None] * 4
    assert _patient(table, "recovery") == [*none, Rate(3, 6), Rate(1, 2), Rate(0, 5), Rate(4, 4)]
    assert _patient(table, "recovered_and_solved") == [
        *none,
        Rate(2, 6),
        Rate(1, 2),
        Rate(0, 5),
        Rate(4, 4),
    ]
    assert _patient(table, "injection_recovery") == [
        *none,
        Rate(4, 7),
        Rate(1, 2),
        Rate(0, 5),
        Rate(5, 5),
    ]
    assert _patient(table, "healed") == [None, 0, 0, 0, 1, 0, 0, 0]
    assert _patient(table, "undecided") == [None, 0, 0, 0, 3, 0, 0, 0]
    for figure in ("recovery", "recovered_and_solved", "injection_recovery"):
        assert _giveup(table, figure) == [None, None, Rate(0, 2), Rate(0, 3)], figure
    # Its one exposed trial that was solved was only late.
    assert _giveup(table, "healed") == [0] * 4
    assert _giveup(table, "undecided") == [0, 0, 0, 1]


def test_the_price_of_recovery_is_a_mean_over_recovered_injections(table: Table) -> None:
    # Recovers: 3 s, 1 step, 2030 tokens. Waits: 7 s, 3 steps, 3 * 1010. Two tries: 7 s and 3 s,
    # 1 step and 1010 each, the first at the second try. To order twice is not recovery.
    results = {
        (row.agent, row.condition): (
            row.recovery_s,
            row.recovery_steps,
            row.recovery_tokens,
            row.recoveries,
        )
        for row in table.rows
        if row.recoveries
    }
    assert list(results) == [
        ("patient", "shop-down"),
        ("patient", "shop-down-2"),
        ("patient", "shop-down-hint"),
    ]
    assert results["patient", "shop-down"] == pytest.approx(
        (
            (3 + 7 + 7 + 3) / 4,
            (1 + 3 + 1 + 1) / 4,
            (2030 + 3030 + 1010 + 1010) / 4,
            4,
        )
    )
    assert results["patient", "shop-down-2"] == pytest.approx((3, 1, 2030, 1))
    # Three recover, one in two tries.
    assert results["patient", "shop-down-hint"] == pytest.approx(
        ((3 * 3 + 7 + 3) / 5, 5 / 5, (3 * 2030 + 2 * 1010) / 5, 5)
    )


def test_tries_are_a_mean_over_the_rated_injections(table: Table) -> None:
    results = {
        (row.agent, row.condition): (row.tries.value, row.tries.n)
        for row in table.rows
        if row.tries
    }
    assert results == {
        # "add" 1 and 1; "buy" 2 and 1, since the second cut came with the first try; "find" none in
        # vain; "mail" none. What was only late is not asked, nor what a solved trial did without.
        ("patient", "shop-down"): (pytest.approx((1 + 1 + 2 + 1 + 0 + 0 + 0) / 7), 7),
        ("patient", "shop-down-2"): (pytest.approx((1 + 0) / 2), 2),
        ("patient", "shop-down-4"): (0, 5),
        ("patient", "shop-down-hint"): (pytest.approx((1 + 2 + 1 + 1 + 1) / 5), 5),
        ("giveup", "shop-down-2"): (0, 2),
        ("giveup", "shop-down-4"): (0, 3),
    }
    for row in table.rows:
        if row.tries:
            _holds(row.tries.interval, row.tries.value, 0, float("inf"))


def test_early_stops_and_fruitless_trials_are_shares_of_exposed_trials(table: Table) -> None:
    assert _patient(table, "premature_stop") == [
        *[None] * 4,
        Rate(2, 9),
        Rate(1, 2),
        Rate(5, 5),
        Rate(0, 4),
    ]
    assert _patient(table, "fruitless") == [
        *[None] * 4,
        Rate(1, 9),
        Rate(0, 2),
        Rate(0, 5),
        Rate(0, 4),
    ]
    assert _giveup(table, "premature_stop") == [None, None, Rate(2, 2), Rate(3, 4)]
    assert _giveup(table, "fruitless") == [None, None, Rate(0, 2), Rate(0, 4)]


def test_reloads_and_duplicated_writes_are_sums_over_all_trials(table: Table) -> None:
    # clean: one reload without a fault. shop-down: "add" 1 and 2, "buy" 1. With the hint: three
    # that recover, one in two tries.
    assert _patient(table, "reloads") == [None, 1, 0, 0, 3, 1, 0, 4]
    assert _patient(table, "duplicated_writes") == [None, 0, 0, 0, 1, 0, 0, 0]
    assert _giveup(table, "reloads") == _giveup(table, "duplicated_writes") == [0] * 4


def test_the_ledger_gives_the_outcome_of_each_planned_injection(table: Table) -> None:
    # "add" 1 + 1, "buy" 2 + 1, "find" 1 + 1, "mail" 1 + 1, "move" 1 + 1, of which one missed.
    assert _patient(table, "planned") == [None, 0, 0, 0, 11, 2, 5, 1 + 2 + 1 + 1]
    assert _patient(table, "delivered") == [None, 0, 0, 0, 10, 2, 5, 5]
    assert _patient(table, "missed") == [None, 0, 0, 0, 1, 0, 0, 0]
    none = Counts(())
    missing, never = Counts((("client_gone", 1),)), Counts((("never", 3),))
    assert _patient(table, "missed_reasons") == [None, *[none] * 3, missing, *[none] * 3]
    assert _patient(table, "skipped") == [None, *[none] * 3, never, *[none] * 3]
    assert _giveup(table, "planned") == _giveup(table, "delivered") == [0, 0, 2, 4]
    assert _giveup(table, "missed_reasons") == _giveup(table, "skipped") == [none] * 4


def test_a_regime_weighs_success_and_effort_against_clean(table: Table) -> None:
    for row in table.rows:
        if row.regime is None:
            assert row.condition not in FAULTS or not row.n
            continue
        # Five tasks never show a significant fall, nor rule a fall by ten points out.
        assert row.regime.name == "unclear"
        if row.condition == "shop-down-2":
            assert row.regime.why == "The fault reached only 2 of 5 trials."
            continue
        assert row.delta is not None
        assert row.regime.why.startswith(f"success {100 * row.delta.value:+.0f} points [")
        # Fewer than six tasks give the median of their ratios no interval.
        assert row.regime.why.endswith("]; what it took is not known.")
    assert sum(row.regime is not None for row in table.rows) == 4 + 2


def test_a_condition_that_an_agent_never_ran_is_an_empty_row(table: Table) -> None:
    for condition in set(CONDITIONS) - set(RAN):
        row = table.row("giveup", condition)
        empty = {"n": 0, "voids": 0, "success": Rate(0, 0), "as_if": Names(()), "lies": Counts(())}
        for metric in METRICS:
            assert metric.of(row) == empty.get(metric.key), metric.key


# ---- the table beside its rows


def test_the_proxy_costs_clean_minus_no_proxy_over_pairs(table: Table) -> None:
    ((agent, effect),) = table.proxy_effect
    assert agent == "patient"
    # "mail" 2 is solved without the proxy only, "move" 2 was not run without it.
    assert _as_expected(effect) == pytest.approx((-1 / 9, 9, 1, 0, "clustered", 1 / 2, None))
    _holds(effect.interval, -1 / 9, -1, 1)

    ((agent, longer),) = table.proxy_latency
    assert agent == "patient"
    assert longer.value == pytest.approx(
        ((3 - 2) + (3 - 2) + (5 - 3) + (4 - 3) + (6 - 4) + (6 - 4) + (4 - 2) + (3 - 2) + (2 - 1))
        / 9
    )
    assert longer.n == 9
    # The tasks' means are 1, 1.5, 2, 1.5 and 1.
    _holds(longer.interval, 13 / 9, 0.8, 2.1)


def test_the_noise_floor_is_the_first_control_that_the_agent_ran(table: Table) -> None:
    floors = dict(table.noise_floor)
    assert list(floors) == ["patient", "giveup"]
    patient, giveup = floors["patient"], floors["giveup"]
    # "again": "add" 2 and "find" 1 lost, "mail" 2 won.
    assert (patient.flips, patient.pairs, patient.source) == (3, 10, "control")
    assert _as_expected(patient.delta) == pytest.approx(
        (-1 / 10, 10, 2, 1, "clustered", 5 / 8, None)
    )
    # It never ran "again", but "again-late": "buy" and "find" lost.
    assert (giveup.flips, giveup.pairs, giveup.source) == (2, 4, "control")
    assert _as_expected(giveup.delta) == pytest.approx((-2 / 4, 4, 2, 0, "mcnemar", 1 / 4, None))


def test_power_counts_tasks_and_the_conditions_that_are_tested(table: Table) -> None:
    power = dict(table.power)
    assert list(power) == ["patient", "giveup"]
    patient, giveup = power["patient"], power["giveup"]
    assert (patient.n, patient.assumed, giveup.n, giveup.assumed) == (5, False, 4, False)
    # Four conditions with faults, and two, in one table.
    assert patient.alpha == giveup.alpha == pytest.approx(1 / 20 / 6)
    assert (patient.flips, giveup.flips) == pytest.approx(((3 + 1) / (10 + 2), (2 + 1) / (4 + 2)))
    # The least p of so few pairs, (1/2)^5 and (1/2)^4, is above either level.
    assert (patient.smallest_detectable_drop, giveup.smallest_detectable_drop) == (None, None)


def test_agents_are_contrasted_under_each_condition_that_both_ran(table: Table) -> None:
    """Fisher's p: the sum of all tables with the same margins that are no likelier than this one.

    Of ten trials of which five are the patient agent's there are C(10, 5) = 252 ways.
    """
    assert {contrast.agents for contrast in table.contrasts} == {("patient", "giveup")}
    results = {(c.condition, c.figure): c for c in table.contrasts}
    assert list(results) == [
        ("clean", "success"),
        ("again-late", "success"),
        ("shop-down-2", "success"),
        ("shop-down-2", "recovery"),
        ("shop-down-4", "success"),
        ("shop-down-4", "recovery"),
    ]
    assert [c.rates for c in table.contrasts] == [
        (Rate(8, 10), Rate(3, 4)),
        (Rate(5, 5), Rate(2, 5)),
        (Rate(4, 5), Rate(3, 5)),
        (Rate(1, 2), Rate(0, 2)),
        (Rate(0, 5), Rate(2, 5)),
        (Rate(0, 5), Rate(0, 3)),
    ]
    assert [c.p_fisher for c in table.contrasts] == pytest.approx(
        [
            # Repeats are not independent.
            None,
            # Seven hits, of which the patient has 2, 3, 4 or 5: 21, 105, 105, 21 ways; here 5.
            (21 + 21) / 252,
            # Likewise, and here 4.
            1,
            # One hit, the one's or the other's: 3 ways of 6 each.
            1,
            # Two hits, of which the patient has 0, 1 or 2: 56, 140, 56 ways.
            (56 + 56) / 252,
            1,
        ]
    )
    assert [c.relative_change for c in table.contrasts] == pytest.approx(
        [
            (3 / 4) / (8 / 10) - 1,
            (2 / 5) / (5 / 5) - 1,
            (3 / 5) / (4 / 5) - 1,
            0 / (1 / 2) - 1,
            None,
            None,
        ]
    )
    # The second agent minus the first, over the tasks of the first repeat. All are adjusted
    # together: 1/8 * 6 is the least, 1/4 * 5 the second.
    _same(
        {f"{c.condition}, {c.figure}": _as_expected(c.paired) for c in table.contrasts},
        {
            # "mail" lost.
            "clean, success": (-1 / 4, 4, 1, 0, "mcnemar", 1 / 2, 1),
            # All but "add" and "move" lost.
            "again-late, success": (-3 / 5, 5, 3, 0, "mcnemar", (1 / 2) ** 3, 6 / 8),
            # "add" and "find" lost, "buy" won.
            "shop-down-2, success": (-1 / 5, 5, 2, 1, "mcnemar", 5 / 8, 1),
            # Both were hit by the fault in "add" only.
            "shop-down-2, recovery": (-1 / 1, 1, 1, 0, "mcnemar", 1 / 2, 1),
            # "mail" and "move" won.
            "shop-down-4, success": (2 / 5, 5, 0, 2, "mcnemar", 1 / 4, 1),
            "shop-down-4, recovery": (0 / 3, 3, 0, 0, "mcnemar", 1, 1),
        },
    )


def test_a_defence_is_compared_with_the_same_faults_without_it(table: Table) -> None:
    # Over the first repeat, in which "find" and "mail" were lost without it.
    (effect,) = table.defences
    wanted = Delta(2 / 5, 5)
    assert effect == DefenceEffect("patient", "shop-down-hint", "shop-down", "hint", wanted)
    p = (1 / 2) ** 2
    assert _as_expected(effect.delta) == pytest.approx((2 / 5, 5, 0, 2, "mcnemar", p, p))


def test_doses_of_a_scenario_are_a_series_with_its_trend(table: Table) -> None:
    patient, giveup = table.doses
    for result in (patient, giveup):
        assert (result.axis, result.of) == ("intensity", "shop-down")
    assert (patient.agent, giveup.agent) == ("patient", "giveup")
    # Undosed is intensity 1; a defence makes another series, which has one point and so is none.
    assert patient.points == (
        DosePoint(1, "shop-down", Rate(6, 10), Delta(-2 / 10, 10)),
        DosePoint(2, "shop-down-2", Rate(4, 5), Delta(-1 / 5, 5)),
        DosePoint(4, "shop-down-4", Rate(0, 5), Delta(-5 / 5, 5)),
    )
    assert giveup.points == (
        DosePoint(2, "shop-down-2", Rate(3, 5), Delta(-1 / 4, 4)),
        DosePoint(4, "shop-down-4", Rate(2, 5), Delta(-2 / 4, 4)),
    )
    # Within each task the doublings are 0, 0, 1, 2, of mean 3/4, with squares of 2 * 9/16 + 1/16 +
    # 25/16 = 11/4. Solved were 2 2 2 1 3 trials of the tasks, at doublings of 1 0 1 1 1 in sum:
    # 4 where 10 * 3/4 were to be expected.
    gap, spread = 4 - 10 * 3 / 4, 5 * 11 / 4
    assert patient.slope == pytest.approx(gap / spread)
    # The tasks' own gaps are -2, -6, -2, +1 and -5 quarters, in sum -14. Of 32 ways to sign them
    # two give a sum of 16, two one of 14.
    assert patient.slope_p == (2 + 2 / 2) / 32
    # Doublings 1 and 2, squares 1/2. "buy" was solved at the first, "mail" and "move" at both: 1 +
    # 6 where 3/2 + 6 were to be expected. Only "buy" varies: half of both ways.
    assert giveup.slope == pytest.approx((7 - 15 / 2) / (5 * 1 / 2))
    assert giveup.slope_p == 1 / 2
    assert (patient.slope_p_holm, giveup.slope_p_holm) == (2 * 3 / 32, 1 / 2)
