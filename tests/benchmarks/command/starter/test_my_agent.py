"""The agent of `warex init --benchmark command`; cli/test_init.py runs it in a campaign."""

import json
import sys
from pathlib import Path

import pytest

from warex.benchmarks.command.starter import my_agent


def test_the_starter_agent_opens_pages_until_its_model_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = iter(["goto('https://shop.example/')", "I see: stop('4.50')"])
    asked: list[str] = []

    def model(name: str, text: str) -> str:
        asked.append(text)
        return next(message)

    monkeypatch.setattr(my_agent, "model", model)
    monkeypatch.setattr(my_agent, "look", lambda url: f"the page of {url}")
    out = tmp_path / "result.json"
    monkeypatch.setattr(
        sys, "argv", ["my_agent.py", "--goal", "Buy tea.", "--model", "m", "--out", str(out)]
    )

    my_agent.main()

    assert json.loads(out.read_text()) == {"answer": "4.50"}
    assert [text.rpartition("You see: ")[2] for text in asked] == [
        "nothing yet",
        "the page of https://shop.example/",
    ]
