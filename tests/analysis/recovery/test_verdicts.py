import pytest

from warex.analysis.recovery import Recovery, RecoveryVerdict, trial_recovered


def _recovery(verdict: RecoveryVerdict, *, needed: bool = True) -> Recovery:
    return Recovery("i1", verdict, "", 1, needed=needed)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], None),
        ([_recovery("recovered")], True),
        ([_recovery("recovered"), _recovery("not_recovered")], False),
        ([_recovery("healed_by_browser")], False),
        ([_recovery("healed_by_page", needed=False)], None),
        ([_recovery("recovered"), _recovery("healed_by_page", needed=False)], True),
        ([_recovery("not_needed"), _recovery("not_possible")], None),
        ([_recovery("recovered"), _recovery("undecided")], None),
        ([_recovery("not_recovered"), _recovery("undecided")], False),
    ],
)
def test_a_trial_is_recovered_when_each_injection_that_counts_is(
    verdicts: list[Recovery], expected: bool | None
) -> None:
    assert trial_recovered(verdicts) is expected
