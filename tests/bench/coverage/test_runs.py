import numpy as np
from bench.coverage import runs

from warex.analysis.table.tabulate import tabulate


def test_a_simulated_void_costs_its_own_pair_only() -> None:
    rng = np.random.default_rng(1)
    run = runs.simulated_run(rng, {"agent": np.full(30, 0.9)}, 1, void=0.2)
    table = tabulate(run)
    assert all(0 < 30 - row.n < 15 for row in table.rows)
    assert len(table.left_out) == sum(30 - row.n for row in table.rows)
    lost = {pair for _, condition, pair in table.left_out if condition in ("clean", "one")}
    delta = table.row("agent", "one").delta
    assert delta is not None
    assert delta.pairs == 30 - len(lost)


def test_a_harmless_build_with_voids_is_not_broken() -> None:
    assert runs.harmless_breaks(np.random.default_rng(1), 5, 10, 1, 0.1) == (0, 0, 0)
