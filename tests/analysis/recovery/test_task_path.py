"""The rules stand in `trajectories/hand/task_path.yaml`; here, what a verdict then says."""

from typing import Any

from tests.analysis.trajectories.trace_builder import build_trace
from warex.analysis.recovery import Recovery, Twin, recoveries
from warex.benchmarks import benchmark_kind

WORDS = benchmark_kind("testbed").vocabulary
AGAIN: list[dict[str, Any]] = [
    {"model": "goto('https://shop.example/item')"},
    {"page": "/item", "user": True},
    {"model": "goto('https://shop.example/list')"},
    {"page": "/list", "user": True},
]
HURT: list[dict[str, Any]] = [{"page": "/list", "fault": 500}, *AGAIN]
CLEAN: list[dict[str, Any]] = [{"page": "/list"}, *AGAIN]


def _judge(twin: Twin | None) -> Recovery:
    [recovery] = recoveries(build_trace(HURT, WORDS), WORDS, twin=twin)
    return recovery


def test_what_the_twin_requests_as_well_is_the_task_s_and_likely() -> None:
    recovery = _judge(Twin(build_trace(CLEAN, WORDS)))

    assert (recovery.verdict, recovery.confidence, recovery.by_task) == (
        "healed_by_page",
        "likely",
        True,
    )
    assert "clean trial" in recovery.why


def test_without_a_twin_the_action_decides_and_other_pages_make_it_likely() -> None:
    recovery = _judge(None)

    assert (recovery.verdict, recovery.confidence, recovery.by_task) == (
        "recovered",
        "likely",
        False,
    )


def test_going_to_a_page_on_the_task_s_way_shows_no_detection() -> None:
    assert _judge(Twin(build_trace(CLEAN, WORDS))).detected is False
    assert _judge(None).detected is True


def test_a_twin_that_went_another_way_shows_nothing() -> None:
    other = [{"page": "/list"}, {"page": "/elsewhere"}, {"page": "/list"}]

    assert _judge(Twin(build_trace(other, WORDS))).verdict == "recovered"


def test_a_reload_is_the_agents_where_its_clean_twin_only_waits() -> None:
    def judged(then: str) -> str:
        seats: dict[str, Any] = {"page": "/seats"}
        clean: list[dict[str, Any]] = [seats, {"model": then}, {"wait": 1}, seats]
        hurt: list[dict[str, Any]] = [seats | {"fault": 500}, {"model": "reload()"}, seats]
        twin = Twin(build_trace(clean, WORDS))
        [recovery] = recoveries(build_trace(hurt, WORDS), WORDS, twin=twin)
        return recovery.verdict

    assert judged("noop(2)") == "recovered"
    assert judged("reload()") == "healed_by_page"


def _of_another_route(words: str, clean: list[dict[str, Any]]) -> str:
    """Judge a script that failed and came with another page of the same app."""
    guide: list[dict[str, Any]] = [{"page": "/guide"}, {"script": "/app.js", "of": "/guide"}]
    went = {"model": f"{words}\ngoto('https://shop.example/guide')"}
    hurt: list[dict[str, Any]] = [{"page": "/"}, {"script": "/app.js", "fault": 500}, went, *guide]
    twin = Twin(build_trace([{"page": "/"}, {"script": "/app.js"}, *clean], WORDS))
    [recovery] = recoveries(build_trace(hurt, WORDS), WORDS, twin=twin)
    return recovery.verdict


def test_a_script_of_a_route_that_only_trouble_leads_to_is_requested_again() -> None:
    by_click: list[dict[str, Any]] = [{"model": "click('3')"}]
    trouble = "An error: the page did not load."

    assert _of_another_route(trouble, by_click) == "recovered"
    assert _of_another_route("The guide is next.", by_click) != "recovered"
    assert _of_another_route(trouble, [*by_click, {"page": "/guide"}]) != "recovered"
    assert _of_another_route(trouble, [*by_click, {"fetch": "/guide"}]) != "recovered"


def test_the_same_operation_with_another_body_is_another_request() -> None:
    def page(body: int, **fault: Any) -> dict[str, Any]:
        place = {"post": "/graphql", "resource": "xhr", "of": "/", "operation": "Entries"}
        return place | {"body": body} | fault

    def verdict(then: int) -> str:
        click = {"model": "click('5')"}
        twin = Twin(build_trace([{"page": "/"}, page(1), click, page(then)], WORDS))
        hurt = [{"page": "/"}, page(1, fault=500), click, page(1)]
        [recovery] = recoveries(build_trace(hurt, WORDS), WORDS, twin=twin)
        return recovery.verdict

    assert verdict(2) == "recovered"
    assert verdict(1) != "recovered"
