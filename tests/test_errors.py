import inspect

import pytest

from warex import errors
from warex.errors import (
    CampaignError,
    InputError,
    MachineError,
    ProcessDied,
    ScenarioError,
    TraceError,
    TrialVoid,
    WarexError,
    void_error,
)

ALL = [
    kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)
]


def test_one_except_catches_all_that_is_raised_on_purpose() -> None:
    assert all(issubclass(kind, WarexError) for kind in ALL)


@pytest.mark.parametrize("kind", [InputError, ScenarioError, CampaignError, TraceError])
def test_bad_input_exits_with_2(kind: type[WarexError]) -> None:
    assert issubclass(kind, InputError)
    assert kind("a sentence").exit_code == 2


def test_what_the_machine_lacks_exits_with_3() -> None:
    assert MachineError("a sentence").exit_code == 3
    assert not issubclass(MachineError, InputError)


def test_a_broken_harness_is_not_bad_input() -> None:
    assert TrialVoid("a sentence").exit_code == 1
    assert not issubclass(TrialVoid, InputError | MachineError)


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (TrialVoid, TrialVoid),
        (ProcessDied, TrialVoid),
        (MachineError, MachineError),
        (TraceError, MachineError),
    ],
)
def test_the_cause_of_a_void_trial_decides_who_must_act(
    cause: type[WarexError], kind: type[WarexError]
) -> None:
    error = void_error(cause("out/events.jsonl: a sentence"))

    assert type(error) is kind
    assert str(error) == "the trial is void: out/events.jsonl: a sentence"


@pytest.mark.parametrize("kind", ALL)
def test_an_error_says_its_sentence_and_no_more(kind: type[WarexError]) -> None:
    assert str(kind("a sentence")) == "a sentence"


@pytest.mark.parametrize("kind", ALL)
def test_the_tree_of_errors_is_whole(kind: type[WarexError]) -> None:
    assert kind.__name__ in (errors.__doc__ or "")
