from tests.report.builders import row, run, table
from warex.analysis.differences import DefenceEffect
from warex.analysis.intervals import Rate
from warex.analysis.run import Run
from warex.analysis.table import Delta, Table
from warex.analysis.verdict import verdict
from warex.report.headline import MOST, opening

FALL = Delta(-0.5, 10, (-0.7, -0.3), 0.0001, 0.0004, "mcnemar")
WORSE = Delta(-0.7, 10, (-0.9, -0.5), 0.001, 0.002, "mcnemar")
OPEN = Delta(-0.1, 10, (-0.3, 0.1), 0.5, 1.0, "mcnemar")


def _many(*deltas: Delta) -> tuple[Run, Table]:
    faulted = Rate(10, 10)
    rows = [row("clean", 9, 10)]
    rows += [row(f"c{n}", 4, 10, delta=d, exposure=faulted) for n, d in enumerate(deltas)]
    effects = (DefenceEffect("patient", "c1", "c0", "hint", FALL),)
    return run(*rows), table(*rows, defences=effects)


def test_a_verdict_of_few_sentences_opens_the_report_whole() -> None:
    few = _many(FALL, OPEN)

    assert opening(*few) == (verdict(*few), ())


def test_of_a_long_verdict_each_agent_s_sum_opens_the_report() -> None:
    many = _many(FALL, WORSE, *[OPEN] * MOST)
    first, rest = opening(*many)

    assert first == (
        "patient is shown to fall under 2 of 14 conditions, furthest under c1:"
        " -70 [-90, -50] points (p = 0.002).",
        "What a defence changes for patient: c1 against c0: -50 [-70, -30] points (p < 0.001).",
    )
    assert rest == verdict(*many)


def test_what_hardly_reached_an_agent_heads_a_sum_too() -> None:
    rows = [row(f"c{n}", 4, 10, delta=OPEN, exposure=Rate(2, 10)) for n in range(MOST + 1)]
    first, _ = opening(run(*rows), table(*rows))

    assert first[0].startswith("What reached fewer than half of the trials is hardly measured:")
    assert "patient, c0 (2/10)" in first[0]
