import pytest

from warex.analysis.recovery import Recovery, RecoveryVerdict, trial_recovered


def _found(verdict: RecoveryVerdict, *, needed: bool = True) -> Recovery:
    return Recovery("i1", verdict, "", 1, needed=needed)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], None),
        ([_found("recovered")], True),
        ([_found("recovered"), _found("not_recovered")], False),
        ([_found("healed_by_browser")], False),
        ([_found("healed_by_page", needed=False)], None),
        ([_found("recovered"), _found("healed_by_page", needed=False)], True),
        ([_found("not_needed"), _found("not_possible")], None),
        ([_found("recovered"), _found("undecided")], None),
        ([_found("not_recovered"), _found("undecided")], False),
    ],
)
def test_a_trial_is_recovered_when_each_injection_that_counts_is(
    verdicts: list[Recovery], expected: bool | None
) -> None:
    assert trial_recovered(verdicts) is expected
