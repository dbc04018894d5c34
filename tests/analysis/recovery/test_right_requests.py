import pytest

from tests.analysis.builders import SHOP, Story
from tests.analysis.recovery.conftest import Judge
from tests.analysis.recovery.test_classification import SCRIPT
from tests.analysis.trajectories.trace_builder import build_trace
from warex.analysis.recovery import recoveries


def test_the_fragment_of_a_page_does_not_matter(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fault(1, SHOP + "#day").thinks(2, "goto").page("x2", SHOP)

    assert [r.verdict for r in judge(story)] == ["recovered"]


def test_a_script_is_recovered_by_the_page_that_asked_for_it(judge: Judge) -> None:
    story = Story().thinks(1, "goto").page("x0").fault(1, SCRIPT, resource="script")
    story.thinks(2, "reload").page("x2").asks("x3", SCRIPT, resource="script")

    [recovery] = judge(story)

    assert (recovery.verdict, recovery.request_seq) == ("recovered", 11)


def test_another_page_does_not_recover_a_script(judge: Judge) -> None:
    story = Story().thinks(1, "goto").page("x0").fault(1, SCRIPT, resource="script")
    story.thinks(2, "goto").page("x2", SHOP + "other")

    assert [r.verdict for r in judge(story)] == ["not_recovered"]


@pytest.mark.parametrize(("method", "verdict"), [("POST", "recovered"), ("GET", "not_recovered")])
def test_a_write_is_recovered_by_the_same_method_and_url(
    judge: Judge, method: str, verdict: str
) -> None:
    story = Story().thinks(1, "click").asks("x1", method="POST").planned("i1", "x1")
    story.gets("x1", 500).delivered("i1", "x1").thinks(2, "click").asks("x2", method=method)

    assert [r.verdict for r in judge(story)] == [verdict]


def test_another_host_shows_nothing_nor_does_an_answer_that_never_came(judge: Judge) -> None:
    story = Story().thinks(1, "goto").fails_to_reach(1).thinks(2, "goto")
    story.page("x2", "https://other.example/").asks("x3").gets("x3", None)

    [recovery] = judge(story)

    assert recovery.verdict == "not_recovered"
    assert recovery.why == "shop.example was not reached again."


def test_a_call_to_a_model_on_the_same_host_is_not_a_recovery(judge: Judge) -> None:
    llm = "https://llm.example:443/"
    story = Story().thinks(1, "goto").fails_to_reach(1, llm)
    story.asks("m2", "https://llm.example/v1/chat/completions", "POST", "xhr").gets("m2")
    story.thinks(2, "reload")

    assert [r.verdict for r in judge(story)] == ["not_recovered"]


type Line = dict[str, object]


def verdicts(*story: Line) -> list[str]:
    return [one.verdict for one in recoveries(build_trace(story, None), None)]


def test_a_click_in_a_single_page_app_that_fetches_the_page_brings_it_back() -> None:
    hit: tuple[Line, ...] = (
        {"model": "page.goto('https://shop.example/list')"},
        {"page": "/list", "fault": 500},
        {"model": "page.goto('https://shop.example/')"},
        {"page": "/"},
    )
    clicks: Line = {"model": "page.click('#list')"}
    assert verdicts(*hit, clicks, {"fetch": "/list", "of": "/"}) == ["recovered"]
    assert verdicts(*hit, clicks, {"fetch": "/other", "of": "/"}) == ["not_recovered"]
    assert verdicts(*hit, {"fetch": "/list", "of": "/"}) == ["healed_by_page"]


@pytest.mark.parametrize(
    "code",
    [
        "document.getElementById('slots').contentWindow.location.reload()",
        "const f = document.getElementById('slots'); f.src = f.src",
    ],
)
def test_a_script_of_the_agent_that_loads_a_frame_again_recovers_it(code: str) -> None:
    story: list[Line] = [
        {"model": "page.goto('/')"},
        {"page": "/"},
        {"fetch": "/slots", "resource": "document", "fault": 500},
        {"model": f"```js\n{code}\n```"},
        {"fetch": "/slots", "resource": "document"},
    ]
    assert verdicts(*story) == ["recovered"]


def test_a_look_at_a_write_s_own_address_by_a_page_s_script_counts() -> None:
    lost: tuple[Line, ...] = (
        {"model": "page.goto('/')"},
        {"page": "/"},
        {"model": "page.click('#book')"},
        {"post": "/data/bookings", "resource": "xhr", "fault": 500, "lost": True},
        {"model": "```js\nawait page.evaluate(() => fetch('/data/bookings'))\n```"},
    )
    assert verdicts(*lost, {"fetch": "/data/bookings"}) == ["recovered"]
    assert verdicts(*lost, {"fetch": "/data/weather"}) == ["not_recovered"]
