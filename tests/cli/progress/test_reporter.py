import pytest

from warex.cli.progress.reporter import ProgressReporter


def test_the_remaining_time_is_printed_at_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    at = [0.0]
    countdown = ProgressReporter("steps", now=lambda: at[0])

    for done, now in ((1, 1.0), (2, 20.0), (3, 25.0), (4, 40.0)):
        at[0] = now
        countdown.update(done, 4, "loss 0.5")

    assert capsys.readouterr().err.splitlines() == [
        "warex: 2 of 4 steps, 20 s elapsed, about 20 s left; loss 0.5",
        "warex: 4 of 4 steps, 40 s elapsed; loss 0.5",
    ]


def test_earlier_work_is_not_timed(capsys: pytest.CaptureFixture[str]) -> None:
    countdown = ProgressReporter("steps", now=lambda: 30.0, initial=80)

    countdown.update(90, 100)

    assert "about 30 s left" in capsys.readouterr().err
