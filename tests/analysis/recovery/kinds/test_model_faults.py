"""Recovery from a model that fails: the next usable answer of the model itself counts."""

from pathlib import Path

import pytest

from tests.analysis.builders import WORDS, Story
from warex.analysis.recovery import Recovery, recoveries
from warex.faults import CATALOGUE
from warex.llm.base import Finish
from warex.traces.events import Disarmed, FaultDelivered, FaultPlanned, LlmCall
from warex.traces.reader import read_trace

WRONG = [it.model_fields["kind"].default for it in CATALOGUE if it.looks_healthy]
"""The kinds of faults of which nothing tells whether the agent noticed."""
URL = "https://llm.example/v1/chat/completions"


class Calls(Story):
    """A trial's calls to its model."""

    def call(
        self,
        number: int,
        step: int,
        *,
        status: int = 200,
        finish: Finish = "stop",
        answer: str = "click()",
        error: str | None = None,
    ) -> "Calls":
        self.add(
            LlmCall(
                exchange=f"m{number}",
                family="openai_chat",
                url=URL,
                model="m",
                step=step,
                began=self.t + 0.4,
                messages=[],
                stream=False,
                status=status,
                answer=answer,
                input_tokens=10 if error is None else None,
                output_tokens=2 if error is None else None,
                usage="reported" if error is None else "none",
                latency_s=0.5,
                first_token_s=0.4,
                complete=error is None and finish != "cut",
                error=error,
                finish=finish,
            )
        )
        return self

    def hit(
        self,
        number: int,
        step: int,
        *,
        kind: str = "llm_error",
        effects: tuple[str, ...] = ("reply",),
        answer: str = "",
        error: str | None = "HTTP 429: wait",
        finish: Finish = "error",
        left: bool = False,
    ) -> "Calls":
        """Tell of a call that meets a fault: exchange ``mN``, injection ``iN``."""
        self.asks(f"m{number}", URL, "POST", "other")
        self.add(
            FaultPlanned(
                injection=f"i{number}",
                exchange=f"m{number}",
                rule="model",
                fault={"kind": kind},
                target="llm",
                looks_healthy=kind in WRONG,
                stage="request",
                scope="",
                ordinal=1,
                effects=effects,
                url=URL,
            )
        )
        self.gets(f"m{number}", 429 if error else 200, "other", "warex")
        self.add(
            FaultDelivered(
                injection=f"i{number}",
                exchange=f"m{number}",
                rule="model",
                waited_s=0.0,
                client_left=left,
            )
        )
        self.call(number, step, finish=finish, answer=answer, error=error)
        return self


def judged(folder: Path, story: Story, *, solved: bool = False) -> tuple[Recovery, ...]:
    path = folder / f"{len(list(folder.iterdir()))}.jsonl"
    trace = read_trace(story.write(path))
    return recoveries(trace.entries, WORDS, solved=solved)


def test_an_sdks_retry_that_is_answered_is_recovery(tmp_path: Path) -> None:
    (recovery,) = judged(tmp_path, Calls().hit(1, 1).call(2, 1))

    assert (recovery.verdict, recovery.tries, recovery.steps, recovery.tokens) == (
        "recovered",
        1,
        0,
        12,
    )
    assert recovery.why == "The same call was made again and answered."
    assert recovery.call_seq == 6
    assert recovery.detected is None


def test_retries_that_fail_too_are_judged_with_the_one_that_does_not(tmp_path: Path) -> None:
    story = Calls().hit(1, 1).hit(2, 1).hit(3, 1).call(4, 1)

    assert [(r.verdict, r.tries) for r in judged(tmp_path, story)] == [
        ("recovered", 3),
        ("recovered", 2),
        ("recovered", 1),
    ]


def test_an_agent_that_goes_on_with_its_next_step_has_recovered(tmp_path: Path) -> None:
    story = Calls().hit(1, 1, kind="llm_empty", error=None, finish="stop").call(2, 2)

    (recovery,) = judged(tmp_path, story)

    assert recovery.verdict == "recovered"
    assert recovery.why == "The agent went on: its model answered at step 2."


def test_a_recovery_costs_the_steps_after_the_one_that_was_hit(tmp_path: Path) -> None:
    repeated = judged(tmp_path, Calls().hit(1, 1).hit(2, 1).call(3, 1))
    went_on = judged(tmp_path, Calls().hit(1, 1).call(2, 2))
    much_later = judged(tmp_path, Calls().hit(1, 1).hit(2, 2).hit(3, 3).call(4, 3))

    assert [result.steps for result in repeated] == [0, 0]
    assert [result.steps for result in went_on] == [1]
    assert [result.steps for result in much_later] == [2, 1, 0]


def test_an_agent_that_gives_up_has_not_recovered(tmp_path: Path) -> None:
    alone, again, more = (
        judged(tmp_path, story)[0]
        for story in (
            Calls().hit(1, 1),
            Calls().hit(1, 1).call(2, 1, status=500, finish="error", error="HTTP 500: no"),
            Calls().hit(1, 1).hit(2, 1).hit(3, 1),
        )
    )

    assert {each.verdict for each in (alone, again, more)} == {"not_recovered"}
    assert alone.why == "The model was not asked again."
    assert again.why == "The model was asked once more, and its answer could not be used."
    assert more.why == "The model was asked 2 more times, and no answer could be used."
    assert [each.tries for each in (alone, again, more)] == [0, 1, 2]


@pytest.mark.parametrize("finish", ["refusal", "content_filter", "length", "cut", "pause"])
def test_an_aborted_answer_is_not_a_usable_answer(tmp_path: Path, finish: Finish) -> None:
    (recovery,) = judged(tmp_path, Calls().hit(1, 1).call(2, 1, finish=finish))

    assert recovery.verdict == "not_recovered"


def test_what_is_asked_after_the_agents_end_is_not_its_own(tmp_path: Path) -> None:
    story = Calls().hit(1, 1)
    story.add(Disarmed(by="terminal_action"))
    story.call(2, 2)

    assert [r.verdict for r in judged(tmp_path, story)] == ["not_recovered"]


@pytest.mark.parametrize(
    ("effects", "left", "verdict"),
    [
        (("delay",), False, "not_needed"),
        (("trickle",), False, "not_needed"),
        (("delay", "trickle"), True, "not_recovered"),
    ],
)
def test_an_answer_that_is_only_late_needs_no_recovery(
    tmp_path: Path, effects: tuple[str, ...], left: bool, verdict: str
) -> None:
    story = Calls().hit(
        1,
        1,
        kind="llm_slow",
        effects=effects,
        answer="click()",
        error=None,
        finish="stop",
        left=left,
    )

    assert [r.verdict for r in judged(tmp_path, story)] == [verdict]


def test_a_late_answer_is_a_usable_one(tmp_path: Path) -> None:
    story = Calls().hit(1, 1)
    story.hit(
        2, 1, kind="llm_slow", effects=("trickle",), answer="click()", error=None, finish="stop"
    )

    assert [r.verdict for r in judged(tmp_path, story)] == ["recovered", "not_needed"]


def test_recovery_from_a_stale_answer_is_unknown(tmp_path: Path) -> None:
    def stale(answer: str) -> Calls:
        return Calls().hit(1, 1, kind="llm_stale", answer=answer, error=None, finish="stop")

    recoveries = judged(tmp_path, stale("click()").call(2, 2))
    empty = judged(tmp_path, stale("").call(2, 2))
    solved = judged(tmp_path, stale("click()").call(2, 2), solved=True)

    assert [each[0].verdict for each in (recoveries, empty, solved)] == [
        "undecided",
        "recovered",
        "undecided",
    ]


def test_an_unanswered_call_of_a_solved_trial_needs_no_recovery(tmp_path: Path) -> None:
    (recovery,) = judged(tmp_path, Calls().hit(1, 1), solved=True)

    assert (recovery.verdict, recovery.is_rated) == ("not_needed", False)
