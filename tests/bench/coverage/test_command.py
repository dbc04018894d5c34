import pytest
from bench.coverage import command, rates


@pytest.mark.slow
@pytest.mark.parametrize("table", command.TABLES)
def test_every_interval_holds_the_truth_and_chance_is_rarely_believed(
    capsys: pytest.CaptureFixture[str], table: str
) -> None:
    assert command.main([table, "--draws", "150"]) == 0, capsys.readouterr().out


def test_the_rates_command_checks_gates_and_intervals(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_SIZES", ((6, 1), (6, 5)))
    monkeypatch.setattr(rates, "THRESHOLDS", (0.8,))
    monkeypatch.setattr(rates, "_SIZE", 5_000)
    assert command.main(["rates", "--draws", "12"]) == 0
    assert "| 6 | 5 | " in capsys.readouterr().out


def test_a_figure_that_misses_its_level_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_SIZES", ((6, 1),))
    monkeypatch.setattr(rates, "_SIZE", 5_000)
    monkeypatch.setattr(rates, "rate_coverage", lambda *_: 0.5)
    assert command.main(["rates", "--draws", "8"]) == 1
    assert "a success rate covers the truth in 50.0% of runs" in capsys.readouterr().out
