from warex.analysis.regimes import Regime


def test_a_regime_says_why() -> None:
    assert Regime("unclear", "too few pairs").why
