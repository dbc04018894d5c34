from warex.analysis.differences import Delta


def test_an_adjusted_p_goes_before_the_bare_one() -> None:
    assert Delta(-0.3, 20, p=0.03).significant
    assert not Delta(-0.3, 20, p=0.03, p_holm=0.06).significant
    assert not Delta(-0.3, 20).significant
