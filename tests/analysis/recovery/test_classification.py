from pathlib import Path
from typing import Any

import pytest

from tests.analysis.builders import SHOP, WORDS, Story
from tests.analysis.recovery.conftest import Judge
from tests.analysis.trajectories.trace_builder import build_trace
from warex.analysis.recovery import Recovery, Twin, recoveries, trial_recovered
from warex.benchmarks import benchmark_kind
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.reader import read_trace

SCRIPT = SHOP + "app.js"
TESTBED = benchmark_kind("testbed").vocabulary


def test_a_reload_chosen_by_the_model_after_the_fault_is_recovery(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2")

    [recovery] = judge(story)

    assert recovery.verdict == "recovered"
    # Lines: 1-2 first call, 3-6 fault, 7-8 second call, 9 the reload.
    assert (recovery.fault_seq, recovery.call_seq, recovery.request_seq) == (6, 7, 9)
    assert (recovery.seconds, recovery.steps, recovery.tokens, recovery.tries) == (3.0, 1, 1010, 1)
    assert "reload" in recovery.why


def test_a_replayed_answer_takes_its_first_time_in_the_price_of_a_recovery(judge: Judge) -> None:
    # Each call takes half a second here. The one before the fault belongs to no recovery.
    story = Story().thinks(1, "goto", original=9.0).fault(1)
    story.thinks(2, "click", original=2.5).thinks(3, "reload", original=4.5).thinks(4, "reload")
    asked_once = story.page("x2")

    [recovery] = judge(asked_once)

    # Since the fault: three calls with their actions, then the request.
    assert recovery.seconds == 7.0 + (2.5 - 0.5) + (4.5 - 0.5)
    assert (recovery.steps, recovery.tokens) == (3, 3030)


def test_two_requests_without_a_model_call_between_are_not_a_recovery(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fault(1, status=None).page("x2").thinks(2, "click")

    [recovery] = judge(story)

    assert recovery.verdict == "healed_by_browser"
    assert recovery.request_seq == 7
    assert trial_recovered([recovery]) is False


def test_a_page_that_retries_its_own_fetch_heals_itself(judge: Judge) -> None:
    api = SHOP + "api/events"
    story = Story().thinks(1, "goto").page("x0").fault(1, api, resource="xhr")
    story.asks("x2", api, resource="xhr").gets("x2", resource="xhr")

    assert [r.verdict for r in judge(story)] == ["healed_by_page"]


def test_giving_up_is_not_recovery(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "report_infeasible").stops()

    assert [r.verdict for r in judge(story)] == ["not_recovered"]


def test_what_the_benchmark_loads_after_the_agent_stopped_heals_nothing(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "report_infeasible").stops().page("x2")

    assert [r.verdict for r in judge(story)] == ["not_recovered"]


def test_a_call_that_was_under_way_when_the_fault_came_does_not_explain(judge: Judge) -> None:
    # The call is made before delivery: the model has not seen the fault.
    story = Story().asks("x1").planned("i1", "x1").gets("x1", 500, by="warex")
    story.thinks(1, "reload").delivered("i1", "x1").page("x2")

    assert [r.verdict for r in judge(story)] == ["healed_by_page"]


def test_waiting_explains_no_request(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fault(1, status=None).thinks(2, "noop").page("x2")

    assert [r.verdict for r in judge(story)] == ["healed_by_browser"]


def test_a_reload_that_meets_the_next_fault_recovers_from_the_first_only(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload").fault(2)
    story.thinks(3, "report_infeasible").stops()

    recovery = judge(story)

    assert [r.verdict for r in recovery] == ["recovered", "not_recovered"]
    assert trial_recovered(recovery) is False


def test_a_browser_s_reload_into_the_next_fault_heals_nothing_yet(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fault(1, status=None).fault(2, status=None)
    story.thinks(2, "reload").page("x3")

    recovery = judge(story)

    assert [r.verdict for r in recovery] == ["recovered", "recovered"]
    assert [r.tries for r in recovery] == [2, 1]
    assert trial_recovered(recovery) is True


def test_a_silent_repeat_is_neither_a_healing_nor_a_second_injection(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fault(1, status=None).asks("x2", repeat_of="x1")
    story.planned("i2", "x2", effects=("cut",), repeat_of="i1").gets("x2", None, by="none")
    story.delivered("i2", "x2").thinks(2, "reload").page("x3")

    assert [(r.injection, r.verdict) for r in judge(story)] == [("i2", "recovered")]


def test_a_silent_repeat_that_got_through_is_the_browser_s_healing(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fault(1, status=None).asks("x2", repeat_of="x1").gets("x2")

    assert [r.verdict for r in judge(story)] == ["healed_by_browser"]


def test_a_script_without_a_usable_referer_belongs_to_the_latest_page(judge: Judge) -> None:
    page = SHOP + "day/3"
    story = Story().thinks(1, "goto").page("x0", page).fault(1, SCRIPT, resource="script")
    story.thinks(2, "reload").page("x2", page)

    assert [r.verdict for r in judge(story)] == ["recovered"]


def test_a_gesture_explains_a_page_that_another_action_led_to(judge: Judge) -> None:
    pressed = Story().thinks(1, "goto").fault(1).thinks(2, "fill")
    pressed.asks("x2", Sec_Fetch_User="?1").gets("x2")

    assert [r.verdict for r in judge(pressed)] == ["recovered"]


@pytest.mark.parametrize(
    ("metadata", "verdict"),
    [
        ({}, "recovered"),
        ({"Sec_Fetch_Mode": "navigate", "Sec_Fetch_User": "?1"}, "recovered"),
        ({"Sec_Fetch_Mode": "navigate"}, "healed_by_browser"),
    ],
)
def test_a_click_explains_a_page_unless_the_browser_denies_a_click(
    judge: Judge, metadata: dict[str, str], verdict: str
) -> None:
    story = Story().thinks(1, "goto").fault(1, status=None).thinks(2, "click")
    story.asks("x2", **metadata).gets("x2")

    assert [r.verdict for r in judge(story)] == [verdict]


def test_without_llm_calls_there_is_only_network_evidence(judge: Judge) -> None:
    [recovery] = judge(Story().fault(1).page("x2"))

    assert recovery.verdict == "undecided"
    assert "etwork evidence only" in recovery.why
    assert trial_recovered([recovery]) is None


def test_actions_that_nobody_can_read_decide_nothing(judge: Judge) -> None:
    story = Story().thinks(1, None).fault(1).thinks(2, None).page("x2")

    assert [r.verdict for r in judge(story, None)] == ["undecided"]


def test_a_vocabulary_without_a_way_back_keeps_the_trial_out_of_the_rate(judge: Judge) -> None:
    story = Story().thinks(1, "fill").fault(1).thinks(2, "answer").page("x2")
    words = Vocabulary(name="typing", other=("fill",), finish=("answer",))

    recovery = judge(story, words)

    assert [r.verdict for r in recovery] == ["not_possible"]
    assert trial_recovered(recovery) is None


def test_a_late_but_whole_answer_needs_no_recovery(judge: Judge) -> None:
    story = Story().thinks(1, "goto").asks("x1").planned("i1", "x1", effects=("delay",))
    story.delivered("i1", "x1").gets("x1")

    assert [r.verdict for r in judge(story)] == ["not_needed"]


def test_a_client_that_gave_up_by_asking_again_is_judged_by_that_request(judge: Judge) -> None:
    # The agent reloads while the page is held, so the reload comes before the delivery is written.
    story = Story().thinks(1, "goto").asks("x1").planned("i1", "x1", effects=("delay", "reply"))
    story.thinks(2, "reload").asks("x2").delivered("i1", "x1", client_left=True).gets("x2")

    assert [r.verdict for r in judge(story)] == ["recovered"]


def test_a_fault_that_was_missed_needs_no_verdict(judge: Judge) -> None:
    story = Story().thinks(1, "goto").asks("x1").planned("i1", "x1").missed("client_gone", "i1")

    assert judge(story) == ()
    assert trial_recovered(()) is None


# ---- attempts that failed before there was a request


def test_reaching_the_host_again_after_the_model_chose_so_is_recovery(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fails_to_reach(1).thinks(2, "reload")
    story.page("x2", SHOP + "cart")

    [recovery] = judge(story)

    assert recovery.verdict == "recovered"
    assert recovery.tries == 1


def test_a_browsers_own_retry_heals_an_attempt(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fails_to_reach(1).page("x2").thinks(2, "click")

    assert [r.verdict for r in judge(story)] == ["healed_by_browser"]


def test_all_attempts_of_an_occurrence_have_one_verdict(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fails_to_reach(1).fails_to_reach(2, repeat_of="i1")
    story.thinks(2, "reload").page("x2")

    assert [r.verdict for r in judge(story)] == ["recovered"]


def test_without_a_model_a_failed_attempt_is_undecided(judge: Judge) -> None:
    assert [r.verdict for r in judge(Story().fails_to_reach(1).page("x2"))] == ["undecided"]


def test_a_request_that_is_broken_off_heals_nothing(judge: Judge) -> None:
    api = SHOP + "api/note"
    story = Story().thinks(1, "goto").page("x0").fault(1, api, resource="xhr")
    story.asks("x2", api, resource="xhr").gets("x2", None, resource="xhr", by="none")

    assert [r.verdict for r in judge(story)] == ["not_recovered"]


def test_a_solved_trial_needed_only_what_it_recovered_from(tmp_path: Path) -> None:
    def judged(story: Story) -> Recovery:
        path = story.write(tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl")
        [recovery] = recoveries(read_trace(path).entries, WORDS, solved=True)
        return recovery

    ignored = judged(Story().thinks(1, "goto").fault(1).thinks(2, "click"))
    healed = judged(Story().thinks(1, "goto").fault(1, status=None).page("x2"))
    recovered = judged(Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2"))

    alone = judged(Story().fault(1))
    retried = judged(Story().fault(1).page("x2"))

    assert (alone.verdict, alone.is_rated) == ("not_needed", False)
    assert retried.verdict == "undecided"
    assert (ignored.verdict, ignored.is_rated) == ("not_needed", False)
    assert ignored.why == "The task was solved all the same."
    assert (healed.verdict, healed.is_rated) == ("healed_by_browser", False)
    assert (recovered.verdict, recovered.is_rated) == ("recovered", True)


@pytest.mark.parametrize("solved", [True, False])
def test_a_changed_site_has_nothing_to_recover_from(tmp_path: Path, solved: bool) -> None:
    story = Story().thinks(1, "goto").asks("x1", SHOP).planned("i1", "x1", kind="relabel")
    story.gets("x1").delivered("i1", "x1").thinks(2, "click")
    trace = read_trace(story.write(tmp_path / "events.jsonl"))

    [recovery] = recoveries(trace.entries, WORDS, solved=solved)

    assert recovery.verdict == "not_needed"
    assert "nothing to recover from" in recovery.why
    assert trial_recovered([recovery]) is None


def test_repeating_a_write_that_took_effect_counts_as_detection() -> None:
    order: dict[str, Any] = {"post": "/orders", "resource": "xhr", "body": 1}
    click = {"model": "click('7')"}
    story = [{"page": "/"}, click, order | {"fault": 500, "lost": True}, click, order]

    [recovery] = recoveries(build_trace(story, TESTBED), TESTBED)

    assert (recovery.verdict, recovery.detected) == ("not_recovered", True)


@pytest.mark.parametrize(
    ("asked", "verdict"), [("Entries", "recovered"), ("AddTag", "not_recovered")]
)
def test_an_operation_that_reads_shows_whether_another_was_carried_out(
    asked: str, verdict: str
) -> None:
    def post(operation: str, **more: Any) -> dict[str, Any]:
        place = {"post": "/graphql", "resource": "xhr", "of": "/", "operation": operation}
        return place | more

    story = [
        *({"page": "/"}, {"model": "click('7')"}, post("AddEntry", fault=502, lost=True)),
        *({"model": "click('8')"}, post(asked)),
    ]
    [recovery] = recoveries(build_trace(story, TESTBED), TESTBED)
    assert recovery.verdict == verdict


@pytest.mark.parametrize(
    ("looked", "clean", "verdict"),
    [
        ("/bids.json", [], "recovered"),
        ("/bids.json", [{"fetch": "/bids.json"}], "not_recovered"),
        ("/price?now=2", [], "not_recovered"),
    ],
    ids=["a look", "the task's way", "a poll"],
)
def test_data_that_only_this_trial_fetches_is_a_check_of_the_write(
    looked: str, clean: list[dict[str, Any]], verdict: str
) -> None:
    def start(**fault: Any) -> list[dict[str, Any]]:
        bid = {"post": "/bid", "resource": "xhr", "of": "/"} | fault
        return [{"page": "/"}, {"fetch": "/price?now=1"}, {"model": "click('7')"}, bid]

    click: dict[str, Any] = {"model": "click('8')"}
    hurt = [*start(fault=502, lost=True), click, {"fetch": looked}]
    twin = Twin(build_trace([*start(), click, *clean], TESTBED))

    [recovery] = recoveries(build_trace(hurt, TESTBED), TESTBED, twin=twin)

    assert recovery.verdict == verdict


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("storage_failure", ("localStorage", "", "SecurityError")),
        ("endless_spinner", ("request", f"{SHOP}api", "without an answer")),
        ("popup_blocked", ("window", f"{SHOP}help", "blocked")),
    ],
)
def test_a_reload_recovers_from_a_fault_in_the_page(
    judge: Judge, kind: str, change: tuple[str, str, str]
) -> None:
    story = Story().thinks(1, "goto").met(1, kind, change).thinks(2, "reload").page("x2")

    assert [r.verdict for r in judge(story)] == ["recovered"]


def test_a_fault_in_a_page_needs_a_reload_to_recover(judge: Judge) -> None:
    change = ("localStorage", "", "SecurityError")
    story = Story().thinks(1, "goto").met(1, "storage_failure", change).thinks(2, "noop").stops()

    assert [r.verdict for r in judge(story)] == ["not_recovered"]


def test_a_page_whose_window_was_blocked_can_be_opened_by_its_address(judge: Judge) -> None:
    blocked = ("window", f"{SHOP}help", "blocked")
    story = Story().thinks(1, "goto").met(1, "popup_blocked", blocked)

    recovery = judge(story.thinks(2, "goto", arguments=[f"{SHOP}help"]).page("x2", f"{SHOP}help"))

    assert [r.verdict for r in recovery] == ["recovered"]
