from collections.abc import Sequence
from typing import Any

from tests.analysis.trajectories.trace_builder import SITE, build_trace
from warex.analysis.recovery.twin import Twin
from warex.benchmarks import benchmark_kind
from warex.traces.events import RequestSeen

WORDS = benchmark_kind("testbed").vocabulary
LIST, ITEM = {"page": "/list"}, {"page": "/item"}


def _twin(*story: dict[str, Any]) -> Twin:
    return Twin(build_trace(story, WORDS))


def _request(story: Sequence[dict[str, Any]]) -> RequestSeen:
    [event] = [e.event for e in build_trace(story, WORDS) if isinstance(e.event, RequestSeen)]
    return event


PAGE = _request([LIST])


def test_what_is_requested_once_is_not_repeated() -> None:
    assert _twin(LIST, ITEM).repeats(PAGE, 0) is None


def test_a_repeat_has_the_steps_in_between() -> None:
    repeat = _twin(LIST, ITEM, {"image": "/logo.png"}, LIST).repeats(PAGE, 0)

    assert repeat is not None
    assert [step.url for step in repeat.steps] == [f"{SITE}item"]
    assert repeat.is_taken_by([_request([ITEM])])
    assert not repeat.is_taken_by([])


def test_only_later_occurrences_are_repeats() -> None:
    twin = _twin(LIST, ITEM, LIST)

    assert twin.repeats(PAGE, 0) is not None
    assert twin.repeats(PAGE, 1) is None


def test_a_redirect_to_the_same_page_is_not_a_repeat() -> None:
    assert _twin({"page": "/list", "status": 302}, LIST).repeats(PAGE, 0) is None


def test_an_operation_that_a_page_had_made_before_is_not_a_step() -> None:
    fetch = {"fetch": "/api/news"}
    asked = _request([{"fetch": "/api/list"}])
    story: list[dict[str, Any]] = [
        LIST,
        fetch,
        {"fetch": "/api/list"},
        {"wait": 5},
        fetch,
        {"fetch": "/api/list"},
    ]

    repeat = _twin(*story).repeats(asked, 0)

    assert repeat is not None
    assert repeat.steps == ()


def test_a_repeat_says_whether_an_action_of_the_model_can_have_led_to_it() -> None:
    def acted(*between: dict[str, Any]) -> bool:
        repeat = _twin(LIST, *between, LIST).repeats(PAGE, 0)
        assert repeat is not None
        return repeat.model_acted

    assert acted() is False
    assert acted({"model": "noop()"}, {"model": "scroll('down')"}) is False
    assert acted({"model": "noop()"}, {"model": "reload()"}) is True
    assert acted({"model": "Hm."}) is True


def test_a_page_that_another_page_fetches_in_advance_is_not_opened() -> None:
    in_advance = {"fetch": "/list"}

    assert _twin(in_advance, LIST).repeats(PAGE, 0) is None
    assert _twin(in_advance, LIST, LIST).repeats(PAGE, 0) is not None


def test_requests_after_the_agent_s_end_are_not_the_task_s() -> None:
    twin = _twin(LIST, {"model": "send_msg_to_user('42')"}, LIST)

    assert twin.repeats(PAGE, 0) is None


def test_a_redirect_leads_to_its_landing() -> None:
    twin = _twin({"page": "/go", "status": 301}, LIST, ITEM)

    assert twin.landings(f"{SITE}go") == (f"{SITE}list",)
    assert twin.landings(f"{SITE}list") == ()


def test_what_is_requested_after_the_model_has_finished_is_not_a_repeat() -> None:
    assert _twin(LIST, {"model": "stop()"}, LIST).repeats(PAGE, 0) is None
    assert _twin(LIST, {"model": "stop()"}, {"model": "click('1')"}, LIST).repeats(PAGE, 0)
