import json
from pathlib import Path

import pytest

from tests.analysis.output.test_comparison import run
from warex.cli import main


def code(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_compare_ends_with_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "old", 2)
    run(tmp_path / "new", 12)

    assert code("compare", tmp_path / "old", tmp_path / "new") == 0

    output = capsys.readouterr().out
    assert output.rstrip().endswith("better: it solves more of these 12 tasks under server-error.")
    assert "tasks like these: better: it solves more tasks like these." in output
    assert "2/12" in output
    assert "12/12" in output


def test_a_fall_can_fail_a_build(tmp_path: Path) -> None:
    run(tmp_path / "old", 12)
    run(tmp_path / "new", 2)

    assert code("compare", tmp_path / "old", tmp_path / "new") == 0
    assert code("compare", "--fail-if-worse", tmp_path / "old", tmp_path / "new") == 1
    assert code("compare", "--fail-if-worse", tmp_path / "new", tmp_path / "old") == 0


def test_an_undecided_comparison_has_its_own_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path / "old", 8)
    run(tmp_path / "new", 6)
    both = (tmp_path / "old", tmp_path / "new")

    assert code("compare", *both) == 0
    for gate in (("--fail-if-worse",), ("--fail-under", "delta>=-0.1")):
        assert code("compare", *both, *gate) == 4
        assert code("compare", *both, *gate, "--on-unclear", "pass") == 0
        assert code("compare", *both, *gate, "--on-unclear", "fail") == 1
    assert code("compare", *both, "--on-unclear", "pass") == 2
    assert "no gate is given" in capsys.readouterr().err


def test_a_change_can_be_gated_by_a_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path / "old", 12)
    run(tmp_path / "new", 2)
    both = (tmp_path / "old", tmp_path / "new")

    assert code("compare", *both, "--fail-under", "delta>=-0.1") == 1
    assert "the comparison fails:\n  a, server-error: delta is -0.833" in capsys.readouterr().err
    assert code("compare", *both, "--fail-under", "clean.delta>=-0.1") == 0
    assert code("compare", *both, "--fail-under", "recovery>=0.5") == 2


def test_programs_read_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "old", 2)

    assert code("compare", "--json", tmp_path / "old", tmp_path / "old:a") == 0

    (read,) = json.loads(capsys.readouterr().out)
    assert read["verdict"] == "cannot tell"
    assert read["after"]["agent"] == "a"


def test_a_folder_with_a_colon_is_a_folder(tmp_path: Path) -> None:
    run(tmp_path / "a:b", 2, n=2, clean=2)

    assert code("compare", tmp_path / "a:b", tmp_path / "a:b:a") == 0


def test_what_is_not_a_run_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code("compare", tmp_path / "none", tmp_path / "none") == 2

    assert "is not a folder" in capsys.readouterr().err


def test_an_unknown_agent_is_named_with_those_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path / "old", 2, n=2, clean=2)

    assert code("compare", f"{tmp_path / 'old'}:b", tmp_path / "old") == 2

    assert "has no agent 'b'; there are: a" in capsys.readouterr().err
