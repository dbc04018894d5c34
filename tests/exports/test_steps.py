import msgspec

from tests.analysis.builders import WORDS, Story
from tests.exports.runs import clean, losing, recovering
from warex.analysis.recovery import recoveries
from warex.exports.steps import Step, steps
from warex.traces.events import Entry, LlmCall


def taken(story: Story, *, solved: bool = True) -> list[Step]:
    entries = [Entry(seq, t, "", event) for seq, (t, event) in enumerate(story.events, 1)]
    return list(steps(entries, recoveries(entries, WORDS, solved=solved), WORDS))


def parts(story: Story, *, solved: bool = True) -> list[tuple[str, str]]:
    return [(step.part, step.act.name) for step in taken(story, solved=solved)]


def test_the_step_that_recovers_is_not_clean() -> None:
    assert parts(recovering()) == [
        ("recovery", "reload"),
        ("clean", "click"),
        ("clean", "send_msg_to_user"),
    ]


def test_all_steps_of_a_trial_without_a_fault_are_clean() -> None:
    assert parts(clean()) == [("clean", "click"), ("clean", "send_msg_to_user")]


def test_the_first_step_after_a_fault_that_was_not_recovered_from_is_lost() -> None:
    (step,) = taken(losing(), solved=False)

    assert (step.part, step.act.name, step.url, step.site) == (
        "lost",
        "report_infeasible",
        "https://shop.example/",
        "shop.example",
    )
    assert step.planned_fault is not None
    assert step.retry_recovers


def test_steps_between_a_fault_and_its_recovery_are_not_exported() -> None:
    story = Story().fault(1).thinks(1, "noop").thinks(2, "reload").page("x2").thinks(3, "click")

    assert parts(story.stops()) == [("recovery", "reload"), ("clean", "click")]


def test_a_lost_write_does_not_come_back_by_asking_for_the_page() -> None:
    story = Story().page("x0").thinks(1, "click").asks("x1", "https://shop.example/order", "POST")
    story.planned("i1", "x1").gets("x1", 500).delivered("i1", "x1").thinks(2, "report_infeasible")

    lost = [step for step in taken(story.stops(), solved=False) if step.part == "lost"]

    assert [step.retry_recovers for step in lost] == [False]


def test_the_step_before_a_dialogs_report_is_its_recovery() -> None:
    story = Story().popup(1).thinks(1, "click").reports(1, "dismissed").thinks(2, "fill").stops()

    assert parts(story) == [("recovery", "click"), ("clean", "fill")]


def test_calls_without_an_answer_or_an_action_are_not_steps() -> None:
    story = clean()
    for at, (t, event) in enumerate(story.events):
        if isinstance(event, LlmCall) and event.step == 1:
            story.events[at] = (t, _failed(event))

    assert parts(story) == [("clean", "send_msg_to_user")]


def test_the_last_repeat_of_a_call_is_the_step() -> None:
    story = Story().page("x1").thinks(1, "fill").thinks(2, "click").stops()
    for at, (t, event) in enumerate(story.events):
        if isinstance(event, LlmCall):
            story.events[at] = (t, msgspec.structs.replace(event, step=1))

    assert parts(story) == [("clean", "click")]


def _failed(call: LlmCall) -> LlmCall:
    return msgspec.structs.replace(call, error="HTTP 500: no", complete=False)
