from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.exports.runs import GOALS, clean, losing, recovering, several_sites, shown
from warex.analysis.run.load import load_run
from warex.errors import InputError
from warex.exports.examples import ExampleSelection, SelectionOptions, find_examples
from warex.exports.names import Thoughts
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.blobs import BlobStore
from warex.traces.outcome import Void


def examples_of(tmp_path: Path, *trials: tuple[object, Story], **choice: bool) -> ExampleSelection:
    folder = RunFolder(tmp_path / "run").manifest()
    for number, (outcome, story) in enumerate(trials):
        folder.trial("server-error", f"shop-{number}", outcome, story)  # type: ignore[arg-type]
    return find_examples([load_run(folder.path)], SelectionOptions(**choice))  # type: ignore[arg-type]


def test_a_recovery_and_the_steps_of_a_solved_trial_are_examples(tmp_path: Path) -> None:
    rows = [it.row for it in examples_of(tmp_path, (solved(), recovering())).examples]

    assert [(row.kind, row.action) for row in rows] == [
        ("failure", "reload"),
        ("clean", "click"),
        ("clean", "send_msg_to_user"),
    ]
    first = rows[0]
    assert (first.fault, first.category, first.site) == ("http_error", "failure", "shop.example")
    assert (first.group, first.task, first.step) == ("shop", "shop-0", 1)
    assert first.answer["content"] == "reload()"
    assert "500 Internal Server Error" in first.prompt[-1]["content"]
    assert rows[1].fault == ""


def test_only_trials_that_count_are_taken(tmp_path: Path) -> None:
    everything = examples_of(tmp_path, (Void(reason="broke"), recovering()))

    assert everything.examples == []
    assert everything.left_out == {"of a trial that does not count": 1}


def test_clean_steps_of_a_trial_that_was_not_solved_teach_nothing(tmp_path: Path) -> None:
    rows = [it.row for it in examples_of(tmp_path, (failed(), recovering())).examples]

    assert [row.kind for row in rows] == ["failure"]


def test_two_trials_that_show_and_answer_the_same_are_one_example(tmp_path: Path) -> None:
    everything = examples_of(tmp_path, (solved(), clean()), (solved(), clean()))

    assert len(everything.examples) == 2
    assert everything.left_out["the same as another"] == 2


def relabelled(tmp_path: Path, asks_again: str, thoughts: Thoughts = "keep") -> ExampleSelection:
    folder = RunFolder(tmp_path / "run").manifest()
    manifest = folder.path / "manifest.json"
    text = manifest.read_text().replace('"asks_again": ""', f'"asks_again": "{asks_again}"')
    manifest.write_text(text)
    folder.trial("server-error", "shop-1", failed(), losing())
    return find_examples([load_run(folder.path)], SelectionOptions(relabel=True, thoughts=thoughts))


def test_a_lost_step_is_relabelled_in_the_agents_own_words(tmp_path: Path) -> None:
    (example,) = relabelled(tmp_path, "I go there again.\\ngoto('{url}')").examples

    assert example.row.answer["content"] == "I go there again.\ngoto('https://shop.example/')"
    assert (example.row.action, example.row.relabelled) == ("goto", True)
    assert example.own["content"] == "report_infeasible()"


def test_a_relabelled_answer_has_a_thought_only_if_others_do(tmp_path: Path) -> None:
    (example,) = relabelled(tmp_path, "I go there again.\\ngoto('{url}')", "auto").examples

    assert example.row.answer["content"] == "goto('https://shop.example/')"


@pytest.mark.parametrize(
    ("thought", "wanted"), [("", "reload()"), ("I act.\n", "Again.\nreload()")]
)
def test_a_relabelled_answer_has_the_form_of_the_others(
    tmp_path: Path, thought: str, wanted: str
) -> None:
    folder = RunFolder(tmp_path / "run").manifest()
    manifest = folder.path / "manifest.json"
    text = manifest.read_text().replace('"asks_again": ""', '"asks_again": "Again.\\nreload()"')
    manifest.write_text(text)
    folder.trial("server-error", "shop-1", failed(), losing())
    story = Story().page("x1")
    story.thinks(1, "click", messages=shown(GOALS[0], "[7]"), answer=f"{thought}click('7')")
    folder.trial("clean", "shop-1", solved(), story.stops())

    choice = SelectionOptions(relabel=True, thoughts="keep")
    examples = find_examples([load_run(folder.path)], choice).examples

    assert [it.row.answer["content"] for it in examples if it.row.relabelled] == [wanted]


def test_a_step_of_an_agent_that_cannot_ask_again_is_never_relabelled(tmp_path: Path) -> None:
    everything = relabelled(tmp_path, "")

    assert everything.examples == []
    assert everything.left_out == {"lost, and no action of the agent asks again": 1}


@pytest.mark.parametrize(
    "text", ["Step 1 of 2: I go.\nclick('7')", "the button 'Yes' is missing.\nclick('7')"]
)
def test_foreknowledge_is_refused_in_answers_and_histories(tmp_path: Path, text: str) -> None:
    history = [*shown(GOALS[0], f"# History\n\n{text}\n\n# Page\n\nIt is done.")]
    story = Story().page("x1")
    story.thinks(1, "click", messages=shown(GOALS[0], "[7] link 'Till'"), answer=text)
    story.thinks(2, "send_msg_to_user", messages=history).stops()
    folder = RunFolder(tmp_path / "run").manifest()
    folder.trial("clean", "shop-1", solved(), story)
    run = load_run(folder.path)

    with pytest.raises(InputError, match=r"shop-1.*, step 1 of agent .* add --thoughts drop$"):
        find_examples([run], SelectionOptions(thoughts="keep"))
    retained = find_examples([run], SelectionOptions()).examples

    assert [it.row.rewritten for it in retained] == [True, True]
    assert all(text not in str(it.row.messages) for it in retained)


def test_screenshots_are_taken_along_once_each(tmp_path: Path) -> None:
    story = Story().page("x1")
    for step in (1, 2):
        picture: JsonValue = {"type": "image_url", "image_url": {"url": f"blob:{_STORED}"}}
        content: list[JsonValue] = [{"type": "text", "text": f"page {step}"}, picture]
        story.thinks(step, "click", messages=[{"role": "user", "content": content}])
    folder = RunFolder(tmp_path / "run").manifest()
    attempt = folder.trial("clean", "shop-1", solved(), story.stops())
    assert BlobStore(attempt / "blobs").put(_PNG) == _STORED

    everything = find_examples([load_run(folder.path)], SelectionOptions())
    blind = find_examples([load_run(folder.path)], SelectionOptions(images=False))

    (name, data), *more = everything.images.items()
    assert not more
    assert name.endswith(".png")
    assert data == _PNG
    row = everything.examples[0].row
    assert row.images == (name,)
    assert row.prompt[0]["content"] == [{"type": "text", "text": "page 1"}, {"type": "image"}]
    assert blind.examples[0].row.prompt[0]["content"] == "page 1"
    assert blind.images == {}


def test_agents_of_one_benchmark_may_have_several_vocabularies(tmp_path: Path) -> None:
    run = several_sites(tmp_path / "run")
    everything = find_examples([run], SelectionOptions())

    assert set(everything.vocabularies) == {"testbed"}
    assert isinstance(everything.vocabularies["testbed"], Vocabulary)
    assert {it.row.vocabulary for it in everything.examples} == {"testbed"}


_PNG = b"\x89PNG\r\n\x1a\n and so on"
_STORED = "sha256/" + __import__("hashlib").sha256(_PNG).hexdigest()
