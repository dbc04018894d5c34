from pathlib import Path

from pydantic import JsonValue

from tests.analysis.builders import RunFolder, Story, solved
from tests.exports.runs import recovering, several_sites
from warex.exports.interchange.samples import conversation, evaluations, metadata, read_sample
from warex.exports.interchange.selection import select_trials
from warex.traces.events import LlmCall
from warex.traces.outcome import Outcome, Unscored, Void


def calls(story: Story) -> list[LlmCall]:
    return [event for _, event in story.events if isinstance(event, LlmCall)]


def test_a_message_occurs_once_in_the_conversation() -> None:
    goal: JsonValue = {"role": "user", "content": "Buy bread."}
    reply: JsonValue = {"role": "assistant", "content": "I open it."}
    page: JsonValue = {"role": "user", "content": "a page"}
    growing = Story().thinks(1, None, messages=[goal], answer="I open it.")
    growing.thinks(2, None, messages=[goal, reply, page], answer="Done.")
    latest = Story().thinks(1, None, messages=[goal], answer="I open it.")
    latest.thinks(2, None, messages=[page], answer="Done.")

    for story in (growing, latest):
        contents = [message["content"] for message in conversation(calls(story))]
        assert contents == ["Buy bread.", "I open it.", "a page", "Done."]


def test_an_evaluation_is_an_agent_under_a_condition_of_one_run(tmp_path: Path) -> None:
    for name in ("a", "b"):
        several_sites(tmp_path / name, ("shop",))
    trials = select_trials([tmp_path / "a", tmp_path / "b"]).trials

    files = [each.file(Path("out"), ".x") for each in evaluations(trials)]

    assert len(set(files)) == len(files) == 6
    assert files[0] == Path("out/a/trials/testbed/giveup/server-error.x")


def test_what_has_no_score_says_why(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    outcomes: dict[str, Outcome] = {
        "a": solved(),
        "b": Void(reason="no browser"),
        "c": Unscored(ending="answered", latency_s=1.0),
    }
    for task, outcome in outcomes.items():
        folder.trial("server-error", task, outcome, recovering())
    samples = [read_sample(trial) for trial in select_trials([tmp_path]).trials]

    assert [sample.error for sample in samples] == [
        *(None, "void: no browser", "the trial was not scored")
    ]
    (fault,) = metadata(samples[0].record)["faults"]
    assert (fault["kind"], fault["verdict"]) == ("http_error", "recovered")
