from pathlib import Path
from typing import Any

import pytest

from tests.analysis.trajectories.trace_builder import build_trace
from tests.yaml_files import load_yaml
from warex.analysis.recovery.claims import Claim, claim_of
from warex.analysis.recovery.trial_events import TrialEvents
from warex.benchmarks import benchmark_kind
from warex.llm.actions.vocabulary import Vocabulary

WORDS = benchmark_kind("testbed").vocabulary
PHRASES = load_yaml(Path(__file__).parent / "words" / "phrases.yaml")


def _claim(answer: Any, words: Vocabulary | None = None) -> Claim | None:
    return claim_of(TrialEvents(build_trace([{"model": answer}], words), words))


def _tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"text": "", "tools": [{"name": name, "arguments": arguments}]}


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        (_tool("done", text="The rug is ordered.", success=True), "success"),
        (_tool("done", text="The rug is ordered.", success=False), "failure"),
        (_tool("done", text="I could not order the rug.", success=True), "failure"),
        (_tool("finish", status="failed", message="The rug"), "failure"),
        (_tool("finish", status="completed", message="The rug"), "success"),
        (_tool("report_infeasible", reason="The site is down."), "failure"),
        (_tool("give_up", reason="No way."), "failure"),
        (_tool("finish"), "success"),
        ("In summary, the next action I will perform is ```stop [N/A]```", "failure"),
        ('{"completed": false, "answer": "3 of 5"}', "failure"),
        ('```json\n{"status": "success", "answer": "3 of 5"}\n```', "success"),
    ],
)
def test_a_structured_end_counts_first(answer: Any, claim: Claim) -> None:
    assert _claim(answer) == claim


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("send_msg_to_user('The total is 42.')", "success"),
        ("send_msg_to_user('I could not find the total.')", "failure"),
        ("send_msg_to_user('')", "failure"),
        ("report_infeasible('The total is 42.')", "failure"),
    ],
)
def test_a_vocabulary_says_what_ends_the_task(answer: str, claim: Claim) -> None:
    assert _claim(answer, WORDS) == claim


@pytest.mark.parametrize("answer", PHRASES["failure"])
def test_an_answer_that_admits_failure_is_not_a_claim(answer: str) -> None:
    assert _claim(answer) == "failure"


@pytest.mark.parametrize("answer", PHRASES["success"])
def test_words_of_success_or_a_value_are_a_claim(answer: str) -> None:
    assert _claim(answer) == "success"


@pytest.mark.parametrize(
    "answer",
    [
        "Which of the two addresses shall I use?",
        "Now I will open the cart.",
        "Tea and coffee",
    ],
)
def test_another_answer_is_unclear(answer: str) -> None:
    assert _claim(answer) == "unclear"


def test_an_action_without_words_at_the_end_is_unclear() -> None:
    assert _claim(_tool("click", element="12")) == "unclear"


def test_words_after_which_an_agent_that_acts_is_silent_are_its_answer() -> None:
    def claim(last: str) -> Claim | None:
        story: list[dict[str, Any]] = [
            {"model": _tool("click", element="12")},
            {"model": last},
        ]
        return claim_of(TrialEvents(build_trace(story, None), None))

    assert claim("Biljetten finns i korgen.") == "success"
    assert claim("Now I will open the cart.") == "unclear"
    assert claim("Which one do you mean?") == "unclear"
    assert claim("I could not read all of it.") == "failure"


def test_a_tool_that_says_that_the_task_is_complete_ends_it() -> None:
    assert _claim(_tool("close", reasoning="Kész.", taskComplete=True)) == "success"


def test_an_agent_that_never_answered_claims_nothing() -> None:
    assert claim_of(TrialEvents((), WORDS)) is None
