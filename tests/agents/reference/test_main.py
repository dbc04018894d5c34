import json
from pathlib import Path
from typing import Any

import pytest

import warex.agents.reference.__main__ as program
from warex.agents.reference.loop import AgentResult

GOOD = ["--goal", "g", "--start-url", "http://a.example/", "--model", "m"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "required"),
        ([*GOOD, "--max-steps", "0"], "at least 1"),
        ([*GOOD, "--step-timeout", "nan"], "seconds"),
        ([*GOOD, "--start-url", "shop"], "not an http:// or https:// address"),
        ([*GOOD, "--base-url", "http://[::1"], "not an http:// or https:// address"),
        ([*GOOD, "--goal", " "], "it is empty"),
        ([*GOOD, "--result", "/no/such/folder/result.json"], "a folder that exists"),
    ],
)
def test_bad_arguments_are_refused_with_exit_code_2(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        program.main(arguments)
    assert exit_.value.code == 2
    assert text in capsys.readouterr().err


def test_the_result_is_written_whole_and_nothing_else_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(options: Any) -> AgentResult:
        return AgentResult("answered", "Fertig ✓", 3)

    monkeypatch.setattr(program, "_run", run)
    assert program.main([*GOOD, "--result", str(tmp_path / "result.json")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
    assert json.loads((tmp_path / "result.json").read_text("utf-8")) == {
        "ending": "answered",
        "answer": "Fertig ✓",
        "steps": 3,
        "error": None,
    }
