import json
import re
import urllib.request
from pathlib import Path

import pytest

from warex.errors import CampaignError
from warex.trials.playbook import Playbook, load_playbook, serve_playbook

GOOD = """
rules:
  - when: 'goal'
    say: hello
  - when: ['a', 'b']
    last: c
    unless: d
    say:
      - one
      - {tool: click, arguments: {index: 3}}
      - {json: {done: true}}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "playbook.yaml"
    path.write_text(text)
    return path


def test_one_pattern_or_answer_is_a_list_of_one(tmp_path: Path) -> None:
    first, second = load_playbook(written(tmp_path, GOOD)).rules

    assert (first.when, first.say) == (("goal",), ("hello",))
    assert (second.when, second.last, second.unless) == (("a", "b"), ("c",), ("d",))
    assert len(second.say) == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rules: []", "rules"),
        ("rules: [{when: '(', say: x}]", "rules[0].when: `(` is not a regular expression"),
        ("rules: [{when: x}]", "'say' is missing"),
        ("rules: [{whn: x, say: y}]", "no key 'whn' here; did you mean 'when'?"),
        ("rules: [hello]", "a rule is a table with the keys when, last, unless, say"),
        ("rule: []", "no key 'rule' here; did you mean 'rules'?"),
    ],
)
def test_every_mistake_is_reported_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(CampaignError) as caught:
        load_playbook(written(tmp_path, text))

    assert "playbook.yaml" in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.wire
def test_a_playbook_restarts_for_each_trial(tmp_path: Path) -> None:
    playbook = Playbook.model_validate({"rules": [{"say": ["first", "second"]}]})

    assert [_answers(playbook, tmp_path) for _ in range(2)] == [["first", "second"]] * 2


def _answers(playbook: Playbook, scratch: Path) -> list[str]:
    with serve_playbook(playbook, scratch) as port:
        messages = []
        for text in ("a", "b"):
            asked = {"model": "m", "messages": [{"role": "user", "content": text}]}
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}/v1/chat/completions",
                json.dumps(asked).encode(),
                {"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request) as answer:
                messages.append(json.loads(answer.read())["choices"][0]["message"]["content"])
        return messages


def test_the_documented_playbook_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/agents.md").read_text("utf-8")
    (example,) = re.findall(r"^```yaml\n(rules:.*?)^```", page, re.MULTILINE | re.DOTALL)

    assert len(load_playbook(written(tmp_path, example)).rules) == 5
