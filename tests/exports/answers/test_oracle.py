"""Wrong steps that an oracle answers, in the states to which the agent itself has come."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.exports.runs import GOALS, losing, shown
from warex.analysis.run.load import load_run
from warex.exports.answers.oracle import Oracle, TakenStep
from warex.exports.examples import ExampleSelection, SelectionOptions, find_examples
from warex.exports.preferences import labels, pairs

PAGE = "[7] link 'Till'\n[8] link 'Help'"


def wandering() -> Story:
    """Return a story in which the agent clicks wrongly, then writes, then reloads."""
    story = Story().page("x1").page("x2")
    story.thinks(1, "click", arguments=["8"], messages=shown(GOALS[0], PAGE), answer="click('8')")
    story.thinks(2, "click", arguments=["7"], messages=shown(GOALS[0], f"{PAGE}\n[9] link 'Buy'"))
    story.writes("x3", body=1)
    return story.thinks(3, "reload", messages=shown(GOALS[0], "It is done.")).stops()


def examples_of(tmp_path: Path, outcome: object, story: Story, oracle: Oracle) -> ExampleSelection:
    folder = RunFolder(tmp_path / "run").manifest()
    folder.trial("clean", "shop-1", outcome, story)  # type: ignore[arg-type]
    return find_examples([load_run(folder.path)], SelectionOptions(oracle=oracle))


def clicking(taken: Sequence[TakenStep]) -> list[str | None]:
    return ["click('7')", "click('7')", None]


def test_a_wrong_step_is_relabelled_and_an_unknown_state_is_counted(
    tmp_path: Path,
) -> None:
    everything = examples_of(tmp_path, failed(), wandering(), clicking)

    rows = [it.row for it in everything.examples]
    assert [(row.step, row.kind, row.action, row.relabelled) for row in rows] == [
        (1, "clean", "click", True),
        (2, "clean", "click", False),
    ]
    assert rows[0].answer["content"] == "click('7')"
    assert everything.examples[0].own["content"] == "click('8')"
    (why,) = everything.left_out
    assert why.endswith("in a state that the oracle does not know")


def test_a_solved_trial_keeps_its_own_answer_where_the_oracle_knows_none(
    tmp_path: Path,
) -> None:
    everything = examples_of(tmp_path, solved(), wandering(), clicking)

    assert [(it.row.step, it.row.relabelled) for it in everything.examples] == [
        (1, True),
        (2, False),
        (3, False),
    ]


def test_the_oracle_is_shown_what_the_agent_saw_did_and_changed(tmp_path: Path) -> None:
    asked: list[TakenStep] = []

    def watching(taken: Sequence[TakenStep]) -> list[str | None]:
        asked.extend(taken)
        return [None] * len(taken)

    examples_of(tmp_path, failed(), wandering(), watching)

    assert [(it.action, it.arguments, it.writes) for it in asked] == [
        ("click", ("8",), False),
        ("click", ("7",), True),
        ("reload", (), False),
    ]
    assert PAGE in asked[0].prompt[-1]["content"]


def test_an_action_that_the_agent_does_not_have_relabels_nothing(tmp_path: Path) -> None:
    everything = examples_of(tmp_path, failed(), wandering(), lambda taken: ["teleport('7')"] * 3)

    assert everything.examples == []


@pytest.mark.parametrize("asks_again", ["", "reload()"])
def test_a_lost_step_is_answered_by_the_vocabulary_not_by_the_oracle(
    tmp_path: Path, asks_again: str
) -> None:
    folder = RunFolder(tmp_path / "run").manifest()
    manifest = folder.path / "manifest.json"
    text = manifest.read_text().replace('"asks_again": ""', f'"asks_again": "{asks_again}"')
    manifest.write_text(text)
    folder.trial("server-error", "shop-1", failed(), losing())
    choice = SelectionOptions(oracle=lambda taken: ["click('7')"] * len(taken))

    everything = find_examples([load_run(folder.path)], choice).examples

    assert [it.row.answer["content"] for it in everything] == ([asks_again] if asks_again else [])


def test_the_agents_own_wrong_answer_is_the_rejected_one(tmp_path: Path) -> None:
    examples = examples_of(tmp_path, failed(), wandering(), clicking).examples

    (pair,) = pairs(examples)
    assert (pair.chosen[0]["content"], pair.rejected[0]["content"]) == ("click('7')", "click('8')")
    assert [(it.step, it.label) for it in labels(examples)] == [(1, True), (1, False), (2, True)]
