from warex.analysis.doses import DoseSeries


def test_a_series_knows_its_own_axis() -> None:
    assert DoseSeries("a", "intensity", "slow", (), None, None).axis == "intensity"
