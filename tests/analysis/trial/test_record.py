import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.analysis.builders import WORDS, RunFolder, Story, failed, solved
from warex.analysis.trial.record import load_trial, run_of
from warex.errors import TraceError
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.outcome import Unscored, Void
from warex.traces.paths import EVENTS, TrialKey


def test_a_trial_record_has_the_events_of_its_trace(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload", (2000, 30)).page("x2")
    folder = RunFolder(tmp_path).trial("server-error", "add event/1", solved(), story, attempt=2)

    trial = load_trial(folder, WORDS)

    assert trial.key == TrialKey("testbed", "patient", "server-error", "add event/1", 1)
    assert (trial.attempt, trial.seed, trial.has_faults) == (2, 7, True)
    assert (trial.exposed, trial.recovered, trial.solved, trial.latency_s) == (True, True, True, 3)
    assert trial.llm is not None
    assert (trial.llm.input_tokens, trial.llm.output_tokens, trial.llm.steps) == (3000, 40, 2)
    assert run_of(folder) == tmp_path.resolve()


def test_a_trial_with_replayed_answers_is_not_quicker(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto", original=4.0).thinks(2, "click").page("x1")
    folder = RunFolder(tmp_path)

    replayed = load_trial(folder.trial("clean", "add", solved(3), story))
    unscored = load_trial(folder.trial("clean", "move", Unscored(latency_s=2), story))

    # The replayed call took half a second.
    assert (replayed.latency_s, unscored.latency_s) == (3 + 3.5, 2 + 3.5)


def test_a_trial_s_site_is_the_host_of_its_first_page(tmp_path: Path) -> None:
    story = Story().asks("x0", "https://cdn.example/a.js", resource="script").page("x1")
    story.page("x2", "https://other.example/")
    folder = RunFolder(tmp_path)

    assert load_trial(folder.trial("clean", "add", solved(), story)).site == "shop.example"
    assert load_trial(folder.trial("no-proxy", "add", solved())).site is None


def test_unrecorded_figures_are_unknown_and_not_zero(tmp_path: Path) -> None:
    trial = load_trial(RunFolder(tmp_path).trial("no-proxy", "add", solved()))

    assert trial.llm is None
    assert trial.solved is True


def test_a_void_trial_has_neither_score_nor_latency(tmp_path: Path) -> None:
    trial = load_trial(RunFolder(tmp_path).trial("clean", "add", Void(reason="lane died")))

    assert trial.void
    assert trial.solved is None
    assert trial.latency_s is None


def test_a_planned_fault_that_was_missed_is_not_an_exposure(tmp_path: Path) -> None:
    story = Story().asks("x1").planned("i1", "x1").missed("client_gone", "i1")

    trial = load_trial(RunFolder(tmp_path).trial("server-error", "add", failed(), story))

    assert trial.exposed is False
    assert trial.recovered is None


def test_a_trace_without_an_end_is_noted_and_read(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).trial("clean", "add", None, Story().page("x1").thinks(1, "goto"))
    full = (folder / EVENTS).read_bytes()
    (folder / EVENTS).write_bytes(full[:-20])

    trial = load_trial(folder)

    assert trial.truncated is not None
    assert "cut short" in trial.truncated
    assert trial.outcome is None
    assert trial.llm is not None
    assert len(trial.llm.calls) == 1


def test_a_damaged_trace_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).trial("clean", "add", solved(), Story().page("x1"))
    lines = (folder / EVENTS).read_bytes().splitlines(keepends=True)
    (folder / EVENTS).write_bytes(b"".join([lines[0], b"rubbish\n", *lines[1:]]))

    with pytest.raises(TraceError, match=r"events\.jsonl:2"):
        load_trial(folder)


def test_a_trace_outside_a_run_says_itself_what_it_is(tmp_path: Path) -> None:
    key = TrialKey("exec", "mine", "server-error", "task", 1)
    Story(t=-1).began(key).page("x1").write(tmp_path / EVENTS)

    trial = load_trial(tmp_path)

    assert trial.key == key
    assert run_of(tmp_path) is None


def test_the_trace_s_own_vocabulary_goes_before_the_benchmark_s(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "click_nothing")
    story.asks("x2", sec_fetch_mode="navigate", sec_fetch_user="?1").gets("x2")
    run = RunFolder(tmp_path)
    of_benchmark = run.trial("server-error", "add", failed(), story)
    of_task = run.trial("server-error", "move", failed(), story)
    _give(of_task, {**WORDS.model_dump(mode="json"), "noop": []})
    empty = run.trial("server-error", "share", failed(), story)

    # Of the benchmark's words this one waits; of the task's own it leads to a page.
    assert [r.verdict for r in load_trial(of_benchmark, WORDS).recoveries] == ["healed_by_page"]
    assert [r.verdict for r in load_trial(of_task, WORDS).recoveries] == ["recovered"]
    # A vocabulary without an action is none.
    none = load_trial(empty, Vocabulary(name="command"))
    assert [r.verdict for r in none.recoveries] == ["recovered"]


def test_an_invalid_vocabulary_is_an_error_that_names_the_trace(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).trial("server-error", "add", failed(), Story().fault(1))
    _give(folder, {"name": "own", "retry": ["reload"]})

    with pytest.raises(TraceError, match=r"events\.jsonl: the vocabulary of trial_began: "):
        load_trial(folder)


def _give(folder: Path, vocabulary: JsonValue) -> None:
    """Write a vocabulary into a trace's first event."""
    path = folder / EVENTS
    first, rest = path.read_text("utf-8").split("\n", 1)
    path.write_text(json.dumps(json.loads(first) | {"vocabulary": vocabulary}) + "\n" + rest)
