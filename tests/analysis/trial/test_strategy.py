"""What an agent did after faults, in crafted trials."""

import msgspec
import pytest

from tests.analysis.builders import SHOP, Story
from warex.analysis.trial.strategy import OnePage, Strategy, announced_wait, in_words, strategy
from warex.traces.call_events import LlmRetried
from warex.traces.events import Entry, FaultPlanned, LlmCall, RequestSeen, ResponseSeen

OTHER = f"{SHOP}other"


def of(story: Story) -> Strategy:
    return strategy([Entry(seq, t, "", event) for seq, (t, event) in enumerate(story.events, 1)])


def requests(story: Story, *exchanges: str) -> tuple[int, ...]:
    """Return the lines of the requests of these exchanges."""
    lines = {
        event.exchange: seq
        for seq, (_, event) in enumerate(story.events, 1)
        if isinstance(event, RequestSeen)
    }
    return tuple(lines[exchange] for exchange in exchanges)


def reloads(status: int, times: int) -> Story:
    """Return a story of an agent that only reloads a page that is answered with a status."""
    story = Story().thinks(1, "goto").fault(1, status=status)
    for number in range(2, times + 2):
        story.thinks(number, "reload").fault(number, status=status)
    return story


def answers(story: Story, **headers: str) -> Story:
    """Give the last response of a story headers."""
    t, event = story.events[-1]
    assert isinstance(event, ResponseSeen)
    fields = [(name.replace("_", "-"), value) for name, value in headers.items()]
    story.events[-1] = (t, msgspec.structs.replace(event, headers=fields))
    return story


def refused(story: Story, number: int, status: int, **headers: str) -> Story:
    """Add a page that a fault refuses."""
    exchange, injection = f"x{number}", f"i{number}"
    story.asks(exchange).planned(injection, exchange).gets(exchange, status, by="warex")
    return answers(story, **headers).delivered(injection, exchange)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422, 451, 501])
def test_each_retry_of_what_its_answer_calls_permanent_is_blind(status: int) -> None:
    story = reloads(status, 3)

    assert of(story).retries == of(story).blind == requests(story, "x2", "x3", "x4")


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_a_retry_of_a_transient_error_is_blind_after_two_equal_failures(status: int) -> None:
    story = reloads(status, 3)

    assert of(story).retries == requests(story, "x2", "x3", "x4")
    assert of(story).blind == requests(story, "x3", "x4")


def test_different_failures_are_not_equal_failures() -> None:
    story = Story().thinks(1, "goto").fault(1, status=500)
    story.thinks(2, "reload").fault(2, status=502).thinks(3, "reload").fault(3, status=500)

    assert of(story).blind == ()


def test_another_request_in_between_makes_a_retry_not_blind() -> None:
    story = Story().thinks(1, "goto").fault(1, status=403)
    story.thinks(2, "goto").page("x2", OTHER).thinks(3, "goto").page("x3")

    assert (of(story).retries, of(story).blind) == (requests(story, "x3"), ())


def test_an_agent_that_gives_up_breaks_no_rule() -> None:
    story = Story().thinks(1, "goto").fault(1, status=404).thinks(2, "report_infeasible").stops()

    asked = of(story)

    assert (asked.retries, asked.blind, asked.early) == ((), (), ())


def test_a_retry_of_the_browser_is_nobodys_strategy() -> None:
    silent = Story().thinks(1, "goto").fault(1, status=403).asks("x2", repeat_of="x1")
    reloaded = Story().thinks(1, "goto").fault(1, status=403).page("x2")

    assert of(silent).retries == of(reloaded).retries == ()


def test_what_a_page_asks_for_itself_is_nobodys_strategy() -> None:
    story = Story().thinks(1, "goto").page("x9")
    for number in range(1, 4):
        story.thinks(number + 1, "noop").fault(number, f"{SHOP}api", 404, "xhr")

    asked = of(story)

    assert (asked.retries, asked.blind) == ((), ())


def test_a_site_that_fails_by_itself_is_not_counted() -> None:
    story = Story().thinks(1, "goto").asks("x1").gets("x1", 404)
    story.thinks(2, "reload").asks("x2").gets("x2", 404).fault(3, OTHER)

    assert of(story).retries == ()


def test_a_program_needs_no_model_to_ask_again_blindly() -> None:
    story = Story()
    for number in (1, 2):
        story.asks(f"x{number}", resource="other", user_agent="python-requests/2")
        story.planned(f"i{number}", f"x{number}").gets(f"x{number}", 403, "other", "warex")
        story.delivered(f"i{number}", f"x{number}")

    assert of(story).blind == requests(story, "x2")


def tries(story: Story, *injections: str) -> tuple[int, ...]:
    """Return the lines of the connection tries of these injections."""
    lines = {
        event.injection: seq
        for seq, (_, event) in enumerate(story.events, 1)
        if isinstance(event, FaultPlanned)
    }
    return tuple(lines[injection] for injection in injections)


def reconnects(times: int, second: tuple[str, ...] = ("refuse",)) -> Story:
    """Return a story of an agent that fails to reach a site, and asks for its page again."""
    story = Story().thinks(1, "goto").fails_to_reach(1)
    for number in range(2, times + 2):
        story.thinks(number, "reload").fails_to_reach(number, effects=second)
    return story


def test_the_third_identical_connection_try_is_a_blind_retry() -> None:
    story = reconnects(3)

    assert of(story).retries == tries(story, "i2", "i3", "i4")
    assert of(story).blind == tries(story, "i3", "i4")


def test_different_connection_failures_are_not_equal_failures() -> None:
    story = reconnects(1, ("dns_error",)).thinks(3, "reload").page("x3")

    assert of(story).retries == (*tries(story, "i2"), *requests(story, "x3"))
    assert of(story).blind == ()


def test_the_first_request_that_reaches_the_host_is_the_retry() -> None:
    story = reconnects(0).thinks(2, "goto").page("x2", f"{SHOP}cart").thinks(3, "goto").page("x3")

    assert of(story).retries == requests(story, "x2")


def test_a_request_to_another_host_or_port_is_not_a_retry_of_a_failed_try() -> None:
    story = reconnects(0).thinks(2, "goto").page("x2", "https://elsewhere.example/")
    story.thinks(3, "goto").page("x3", "http://shop.example:8080/")

    assert of(story).retries == ()


def test_another_host_in_between_makes_a_connection_try_not_blind() -> None:
    story = reconnects(1).thinks(3, "goto").page("x3", "https://elsewhere.example/")
    story.thinks(4, "goto").fails_to_reach(4)

    assert of(story).retries == tries(story, "i2", "i4")
    assert of(story).blind == ()


def test_tries_within_a_hold_are_one_unless_the_model_answers_between() -> None:
    silent = reconnects(0).fails_to_reach(2, repeat_of="i1").fails_to_reach(3, repeat_of="i1")
    asked = reconnects(0).thinks(2, "reload").fails_to_reach(2, repeat_of="i1")

    assert of(silent).retries == ()
    assert of(asked).retries == tries(asked, "i2")


def test_a_program_needs_no_model_to_connect_again() -> None:
    story = Story().fails_to_reach(1).fails_to_reach(2)
    story.asks("x3", resource="other", user_agent="python-requests/2").gets("x3")

    assert of(story).retries == (*tries(story, "i2"), *requests(story, "x3"))
    assert of(story).blind == requests(story, "x3")


def test_a_slow_or_older_protocol_is_not_a_failed_connection() -> None:
    for effect in ("lose_packets", "reorder_packets", "refuse_http2"):
        story = Story().thinks(1, "goto").fails_to_reach(1, effects=(effect,)).page("x1")
        story.thinks(2, "reload").page("x2")

        assert of(story).retries == ()


def test_a_model_that_could_not_be_reached_is_asked_again() -> None:
    story = Story().fails_to_reach(1, "https://llm.example:443/")
    story.asks("m1", "https://llm.example/v1/chat/completions", "POST", "other").thinks(1, "goto")

    assert of(story).retries == requests(story, "m1")


@pytest.mark.parametrize(
    ("headers", "is_early"),
    [({"Retry_After": "5"}, False), ({"Retry_After": "9"}, True), ({}, False)],
)
def test_a_retry_before_the_announced_time_is_early(
    headers: dict[str, str], is_early: bool
) -> None:
    story = refused(Story().thinks(1, "goto"), 1, 429, **headers)
    story.thinks(2, "reload").thinks(3, "noop").page("x2").stops()  # 6 s later.

    assert of(story).early == (requests(story, "x2") if is_early else ())


def test_too_many_requests_are_too_many_for_every_page_of_the_site() -> None:
    story = refused(Story().thinks(1, "goto"), 1, 429, Retry_After="60")
    story.thinks(2, "goto").page("x2", OTHER).page("x3", "https://elsewhere.example/")

    assert of(story).early == requests(story, "x2")


def test_any_other_answer_asks_to_wait_for_itself_only() -> None:
    story = refused(Story().thinks(1, "goto"), 1, 503, Retry_After="60")
    story.thinks(2, "goto").page("x2", OTHER).thinks(3, "goto").page("x3")

    assert of(story).early == requests(story, "x3")


def test_a_failed_connection_is_not_an_early_retry_of_another_page() -> None:
    story = refused(Story().thinks(1, "goto"), 1, 503, Retry_After="60")
    story.thinks(2, "goto").fails_to_reach(2)

    assert of(story).early == ()


def test_after_the_time_that_was_announced_a_retry_is_not_blind() -> None:
    story = Story()
    for number in (1, 2, 3):
        refused(story.thinks(number, "goto"), number, 429, Retry_After="2")

    asked = of(story)

    assert len(asked.retries) == 2
    assert (asked.blind, asked.early) == ((), ())


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"Retry-After": "7"}, 7.0),
        (503, {"retry-after": " 7 "}, 7.0),
        (
            503,
            {
                "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
                "Retry-After": "Wed, 21 Oct 2015 07:30:00 GMT",
            },
            120.0,
        ),
        (429, {"Retry-After": "soon"}, 1.0),
        (429, {}, 1.0),
        (503, {}, None),
        (503, {"Retry-After": "\u0661"}, None),
        (200, {}, None),
    ],
)
def test_a_time_to_wait_is_a_number_or_a_date(
    status: int, headers: dict[str, str], seconds: float | None
) -> None:
    assert announced_wait(status, headers) == seconds


def calls_model_twice(waited_s: float) -> Story:
    """Return a story of an SDK that repeats a refused call after some seconds."""
    story = Story()
    for number in (1, 2):
        story.asks(f"m{number}", "https://llm.example/v1/chat/completions", "POST", "other")
        if number == 1:
            story.planned("i1", "m1", kind="llm_error").delivered("i1", "m1")
        else:
            story.add(
                LlmRetried(exchange="m2", injection="i1", retry_after_s=5.0, waited_s=waited_s)
            )
        story.thinks(number, None)
        t, call = story.events[-1]
        assert isinstance(call, LlmCall)
        story.events[-1] = (t, msgspec.structs.replace(call, step=1))
    return story


@pytest.mark.parametrize(("waited_s", "is_early"), [(1.0, True), (5.1, False)])
def test_an_sdk_that_does_not_wait_is_early(waited_s: float, is_early: bool) -> None:
    story = calls_model_twice(waited_s)
    again = requests(story, "m2")

    assert of(story).retries == again
    assert of(story).early == (again if is_early else ())


def test_a_pages_budget_is_a_share_of_the_steps_after_the_fault() -> None:
    story = Story().thinks(1, "goto").page("x1", OTHER).thinks(2, "goto").fault(2)
    story.thinks(3, "reload", (3000, 10)).page("x3").thinks(4, "noop", (3000, 10))
    story.thinks(5, "goto").page("x5", OTHER).thinks(6, "noop").stops()

    page = of(story).one_page

    assert page is not None
    assert (page.url, page.steps) == (SHOP, 0.75)
    assert page.tokens == pytest.approx(7030 / 8040)


def test_without_a_fault_it_is_the_share_of_all_steps() -> None:
    story = Story().page("x1").thinks(1, "click").page("x2", OTHER)
    story.thinks(2, "noop").thinks(3, "noop").stops()

    assert of(story) == Strategy(one_page=OnePage(OTHER, 2 / 3, 2 / 3))


def test_an_agent_that_only_reloads_breaks_the_rule() -> None:
    trivial = of(reloads(404, 8))
    stops = of(reloads(404, 0).thinks(2, "report_infeasible"))

    assert (len(trivial.blind), len(trivial.retries)) == (8, 8)
    assert (stops.blind, stops.retries) == ((), ())
    assert trivial.one_page == OnePage(SHOP, 1.0, 1.0)


def test_each_rule_is_described_with_its_trace_lines() -> None:
    broken = Strategy(retries=(3, 5), blind=(5,), early=(3, 5))

    assert [*in_words(broken)] == [
        "asked again blindly once [5]",
        "asked before the announced time was over 2 times [3] [5]",
    ]
