import pytest

from warex.cli.progress.spinner import spinner


def test_without_a_terminal_each_step_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with spinner("set up toy") as report:
        report("make it")
        report("try it")

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.split("\n")[:2] == ["set up toy: make it", "set up toy: try it"]
