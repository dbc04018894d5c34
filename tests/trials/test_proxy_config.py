from dataclasses import replace
from pathlib import Path

import pytest

from tests.trials.attempts import BROKEN_ONCE, attempt, spec, trials_of_one_run
from warex.errors import MachineError
from warex.llm.defences.refresh import REFRESH
from warex.traces import Counted, DefenceApplied, LlmCall, read_trace
from warex.trials import TrialContext, run_trial

pytestmark = pytest.mark.wire


def test_a_defence_reaches_the_model_and_is_in_the_trace(
    context: TrialContext, tmp_path: Path
) -> None:
    outcome = attempt(replace(spec("model,page"), defence=REFRESH), context, tmp_path)

    assert isinstance(outcome, Counted)
    trace = read_trace(tmp_path / "attempt-1" / "events.jsonl")
    assert [applied.defence for applied in trace.events(DefenceApplied)] == ["refresh"]
    (call,) = trace.events(LlmCall)
    assert call.messages == [
        {"role": "system", "content": REFRESH.text},
        {"role": "user", "content": "what now?"},
    ]


def test_only_trials_that_may_share_are_given_earlier_answers(
    context: TrialContext, tmp_path: Path
) -> None:
    first = replace(spec("model,page"), cached=True)
    faulted = replace(spec("model,page", BROKEN_ONCE), cached=True)
    control = replace(first, cached=False, key=replace(first.key, condition="control"))
    other_repeat = replace(first, key=replace(first.key, repeat=3))
    other_agent = replace(first, key=replace(first.key, agent="b"))

    done = trials_of_one_run(
        context, tmp_path / "run", first, faulted, control, other_repeat, other_agent
    )

    replayed = [calls for _, calls in done]
    assert replayed == [[False], [True], [False], [False], [False]]


def test_an_embedded_model_that_does_not_run_is_a_sentence(
    context: TrialContext, tmp_path: Path
) -> None:
    with pytest.raises(MachineError, match="'scripted:page' is embedded, but it does not run"):
        run_trial(spec("page"), 1, tmp_path / "attempt-1", replace(context, model_port=None))
