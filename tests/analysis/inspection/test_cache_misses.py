from pathlib import Path

from pydantic import JsonValue

from tests.analysis.builders import RunFolder, Story, solved
from warex.analysis.inspection.as_json import inspection_json
from warex.analysis.inspection.cache_misses import CacheMiss
from warex.analysis.inspection.timeline import inspect_trial
from warex.traces.outcome import Void

CONDITIONS: JsonValue = [
    {"name": "clean"},
    {"name": "server-error"},
    {"name": "aa", "control": True},
]


def _messages(*texts: str) -> JsonValue:
    return [{"role": "user", "content": text} for text in texts]


def _clean() -> Story:
    first = Story().thinks(1, "goto", messages=_messages("It is 12:01."))
    return first.thinks(2, "click", messages=_messages("It is 12:01.", "A page."))


def _run(folder: Path, *, cache: bool = True) -> RunFolder:
    run = RunFolder(folder).manifest(llm_cache=cache, conditions=CONDITIONS)
    run.trial("clean", "add", Void(reason="lane died"), Story())
    run.trial("clean", "add", solved(), _clean(), attempt=2)
    return run


def _misses(run: RunFolder, story: Story, condition: str = "server-error") -> list[CacheMiss]:
    folder = run.trial(condition, "add", solved(), story)
    return list(inspect_trial(folder).cache_misses)


def test_a_cache_miss_is_compared_with_the_nearest_stored_call(
    tmp_path: Path,
) -> None:
    story = Story().thinks(1, "goto", messages=_messages("It is 12:04."))
    story.thinks(2, "reload", messages=_messages("It is 12:01.", "Error 500."))

    one, two = _misses(_run(tmp_path), story)

    assert (one.condition, one.step, one.nearest_seq) == ("clean", 1, 2)
    assert one.why == 'messages[0].content is "It is 12:01." there and "It is 12:04." here'
    assert two.step == 2
    assert two.why == 'messages[1].content is "A page." there and "Error 500." here'


def test_among_equally_near_requests_the_same_steps_is_named(tmp_path: Path) -> None:
    run = RunFolder(tmp_path).manifest(llm_cache=True, conditions=CONDITIONS)
    clean = Story().thinks(1, "goto", messages=_messages("one"))
    run.trial("clean", "add", solved(), clean.thinks(2, "click", messages=_messages("two")))

    (miss,) = _misses(run, Story().thinks(2, "click", messages=_messages("another")))

    assert miss.step == 2


def test_a_call_that_was_answered_again_is_not_a_miss(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto", messages=_messages("It is 12:01."), original=2.0)

    assert _misses(_run(tmp_path), story) == []


def test_a_call_without_a_difference_in_the_trace_says_so(tmp_path: Path) -> None:
    (miss,) = _misses(_run(tmp_path), Story().thinks(1, "goto", messages=_messages("It is 12:01.")))

    assert miss.difference is None
    assert "nothing differs" in miss.why


def test_the_first_condition_and_unshared_trials_have_no_misses(tmp_path: Path) -> None:
    run = _run(tmp_path)
    first = tmp_path / "trials/testbed/patient/clean/add/1/attempt-2"

    assert inspect_trial(first).cache_misses == ()
    assert _misses(run, _clean(), "aa") == []


def test_without_a_cache_nothing_was_missed(tmp_path: Path) -> None:
    assert _misses(_run(tmp_path, cache=False), _clean()) == []


def test_cache_misses_are_in_the_json_too(tmp_path: Path) -> None:
    run = _run(tmp_path)
    story = Story().thinks(1, "goto", messages=_messages("It is 12:04."))
    folder = run.trial("server-error", "add", solved(), story)

    assert inspection_json(inspect_trial(folder))["cache_misses"] == [
        {
            "seq": 2,
            "condition": "clean",
            "step": 1,
            "nearest_seq": 2,
            "difference": {
                "path": "messages[0].content",
                "recorded": '"It is 12:01."',
                "asked": '"It is 12:04."',
            },
            "why": 'messages[0].content is "It is 12:01." there and "It is 12:04." here',
        }
    ]
