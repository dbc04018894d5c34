import tracemalloc
from collections import Counter
from itertools import count
from math import sqrt
from typing import ClassVar, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from tests.scenarios.builders import (
    DOCUMENT,
    PAGE,
    SCRIPT,
    SITE,
    answer,
    ask,
    hits,
    one,
    one_shot,
    only,
    places,
    rule,
    scenario,
    send,
)
from warex.effects import Delay, Effect, Reply
from warex.exchange import Exchange, Resource, Server
from warex.faults import Fault, FaultState
from warex.faults.server.http_error import HttpError
from warex.scenarios import Decision, Injector, Rule, Scenario, SkippedMatches
from warex.seeds import KeyedRng

FIVE = [PAGE] * 5
URLS = [f"{SITE}/{number}" for number in range(4)]
ASSETS = st.lists(st.sampled_from([f"{SITE}/{name}.js" for name in "abcdef"]), max_size=40)


def reasons(injector: Injector) -> dict[str, int]:
    return {left.reason: left.count for left in injector.skipped()}


# ---- triggers


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        ({"first": 1}, [1]),
        ({"first": 3}, [1, 2, 3]),
        ({"nth": 2}, [2]),
        ({"nth": [2, 5]}, [2, 5]),
        ({"every": 1}, [1, 2, 3, 4, 5]),
        ({"every": 2}, [2, 4]),
        ({"always": True}, [1, 2, 3, 4, 5]),
        ({"probability": 0.0}, []),
        ({"probability": 1.0}, [1, 2, 3, 4, 5]),
        ({"random": {"times": 2, "probability": 1.0}}, [1, 2]),
        ({"random": {"times": 2, "probability": 0.0}}, []),
    ],
)
@pytest.mark.parametrize("per", ["rule", "url"])
def test_a_trigger_hits_what_it_says(
    trigger: dict[str, JsonValue], expected: list[int], per: str
) -> None:
    assert hits(Injector(one(trigger=trigger, per=per), 1), FIVE) == expected


@given(seed=st.integers(), times=st.integers(1, 7), chance=st.floats(0.2, 1))
def test_a_random_trigger_hits_exactly_so_many_in_all(seed: int, times: int, chance: float) -> None:
    trigger: JsonValue = {"random": {"times": times, "probability": chance}}

    assert len(hits(Injector(one(trigger=trigger), seed), [PAGE] * 250)) == times


@pytest.mark.parametrize("per", ["rule", "url"])
@pytest.mark.parametrize(
    "chance", [0.3, *(pytest.param(it, marks=pytest.mark.slow) for it in (0.1, 0.5, 0.9))]
)
def test_a_probability_is_the_rate_of_hits(chance: float, per: str) -> None:
    stream = [f"{SITE}/{number % 50}" for number in range(4000)]

    rate = len(hits(Injector(one(trigger={"probability": chance}, per=per), 7), stream)) / 4000

    # Four standard errors. Drawing twice would hit 2p - p², far outside.
    assert abs(rate - chance) < 4 * sqrt(chance * (1 - chance) / 4000)


def test_a_random_trigger_waits_as_its_probability_says() -> None:
    trigger: JsonValue = {"random": {"times": 1, "probability": 0.25}}

    def first_hit(seed: int) -> int:
        injector = Injector(one(trigger=trigger), seed)
        return next(number for number in count(1) if send(injector).injections)

    firsts = [first_hit(seed) for seed in range(400)]

    # Geometric: mean 4, standard deviation 3.5; four standard errors.
    assert abs(sum(firsts) / 400 - 4) < 4 * 3.5 / 20


def test_a_random_trigger_uses_one_half_where_it_names_no_probability() -> None:
    named = one(trigger={"random": {"times": 9, "probability": 0.5}})

    left_out = one(trigger={"random": {"times": 9}})

    assert hits(Injector(named, 3), FIVE) == hits(Injector(left_out, 3), FIVE)


# ---- draws


@pytest.mark.parametrize(
    ("per", "expected"),
    [
        ("rule", [1, 2, 5, 7, 8, 9, 11, 12, 15, 17, 18, 20]),
        ("url", [1, 3, 5, 6, 11, 13, 14, 15, 19, 20]),
    ],
)
def test_what_a_seed_hits_is_the_same_in_every_version(per: str, expected: list[int]) -> None:
    injector = Injector(one(trigger={"probability": 0.5}, per=per), 42)

    assert hits(injector, [URLS[number % 4] for number in range(20)]) == expected


@pytest.mark.parametrize("per", ["rule", "url"])
def test_the_same_seed_hits_the_same_and_two_seeds_differ(per: str) -> None:
    def hits_by(seed: int) -> list[int]:
        return hits(Injector(one(trigger={"probability": 0.5}, per=per), seed), URLS * 10)

    assert hits_by(1) == hits_by(1)
    assert len({tuple(hits_by(seed)) for seed in range(20)}) == 20


def test_two_rules_draw_by_themselves() -> None:
    coin: JsonValue = {"probability": 0.5}
    both = Injector(scenario(rule("a", trigger=coin), rule("b", trigger=coin)), 1)

    of = Counter(
        tuple(sorted(it.rule for it in (*decision.injections, *decision.superseded)))
        for decision in (send(both) for _ in range(400))
    )

    assert all(70 < of[which] < 130 for which in [(), ("a",), ("b",), ("a", "b")])


@given(stream=ASSETS, seed=st.integers(0, 99), data=st.data())
def test_per_url_hits_do_not_depend_on_the_order(
    stream: list[str], seed: int, data: st.DataObject
) -> None:
    def hits_by_url(urls: list[str]) -> set[tuple[str, int]]:
        injector = Injector(one(trigger={"probability": 0.5}, per="url"), seed)
        return {
            (it.scope, it.ordinal)
            for url in urls
            for it in send(injector, url, headers=SCRIPT).injections
        }

    assert hits_by_url(stream) == hits_by_url(data.draw(st.permutations(stream)))


def test_per_url_each_method_and_url_has_its_own_count_and_budget() -> None:
    injector = Injector(one(trigger={"random": {"times": 1, "probability": 1.0}}, per="url"), 1)
    stream = [(PAGE, "GET"), (PAGE, "POST"), (PAGE, "GET"), (f"{PAGE}?a", "GET"), (PAGE, "POST")]

    injections = [send(injector, url, method).injections for url, method in stream]

    assert [len(injections) for injections in injections] == [1, 1, 0, 1, 0]
    assert only(injections[1]).scope == f"POST {PAGE}"


def test_per_rule_all_that_match_are_numbered_in_order_of_arrival() -> None:
    injector = Injector(one(match={"resource": "document"}), 1)
    stream = [(URLS[0], DOCUMENT), (URLS[1], SCRIPT), (URLS[2], DOCUMENT), (URLS[0], DOCUMENT)]

    injections = [it for url, what in stream for it in send(injector, url, headers=what).injections]

    assert places(injections) == [("down", "", 1), ("down", "", 2), ("down", "", 3)]


def test_a_rule_about_third_parties_ignores_requests_of_the_pages_own_site() -> None:
    fault: JsonValue = {"kind": "javascript_failure", "third_party": True}
    injector = Injector(one(trigger={"first": 1}, fault=fault), 1)
    of = {name: {**SCRIPT, "sec-fetch-site": name} for name in ("same-origin", "cross-site")}

    injections = [
        send(injector, url, headers=of[name]).injections
        for url, name in (
            (URLS[0], "same-origin"),
            (URLS[1], "cross-site"),
            (URLS[2], "cross-site"),
        )
    ]

    assert [len(injections) for injections in injections] == [0, 1, 0]
    assert only(injections[1]).ordinal == 1


def test_one_url_in_two_spellings_is_one() -> None:
    injector = Injector(one(trigger={"nth": 2}, per="url"), 1)

    assert hits(injector, ["https://shop.test/", "HTTPS://SHOP.test:443/#top"]) == [2]


def test_a_ledger_and_its_count_know_no_secret_of_a_url() -> None:
    injector = Injector(one(per="url"), 1)

    first = only(send(injector, f"{PAGE}?token=aaaa").injections)
    second = only(send(injector, f"{PAGE}?token=bbbb").injections)

    assert first.scope == second.scope == f"GET {PAGE}?token=[redacted]"
    assert (first.ordinal, second.ordinal) == (1, 2)


def test_a_url_that_is_not_utf_8_is_counted_as_the_trace_writes_it() -> None:
    for per in ("rule", "url"):
        injector = Injector(one(trigger={"probability": 1.0}, per=per), 1)
        injection = only(send(injector, f"{PAGE}caf\udce9").injections)
        assert injection.scope == (f"GET {PAGE}caf?" if per == "url" else "")


# ---- windows


def test_between_only_that_time_is_counted() -> None:
    injector = Injector(one(trigger={"nth": 2, "between": [5, 10]}), 1)

    injections = [now for now in (0.0, 4.9, 5.0, 9.9, 10.0) if send(injector, now=now).injections]

    assert injections == [9.9]


def test_after_a_step_only_what_follows_is_counted() -> None:
    injector = Injector(one(trigger={"first": 1, "after_step": 2}), 1)
    injections = []
    for step in ("a", "b", "c"):
        injections.append(len(send(injector).injections))
        injector.llm_call(step)

    assert [*injections, len(send(injector).injections)] == [0, 0, 1, 0]


def test_a_call_with_the_same_body_again_is_the_same_step() -> None:
    injector = Injector(one(), 1)
    for body in ("a", "a", "b", "b", "a"):
        injector.llm_call(body)

    assert injector.arming.steps == 3


# ---- arming


def test_armed_from_the_start_everything_counts() -> None:
    assert hits(Injector(one(), 1), [PAGE]) == [1]


def test_the_scenario_says_when_to_arm_unless_somebody_knows_better() -> None:
    assert Injector(one(), 1).arming.at == "start"
    assert Injector(one(arm="first_page"), 1).arming.at == "first_page"
    assert Injector(one(arm="first_page"), 1, arm="first_llm_call").arming.at == "first_llm_call"


@pytest.mark.parametrize(
    ("url", "headers", "arms"),
    [
        (PAGE, DOCUMENT, True),
        (f"{SITE}/app.js", SCRIPT, False),
        (PAGE, {"sec-fetch-dest": "iframe"}, False),
        ("https://elsewhere.test/", DOCUMENT, False),
        ("https://shop.test.elsewhere.test/", DOCUMENT, False),
        (f"{SITE}/favicon.ico", DOCUMENT, False),
        (PAGE, {**DOCUMENT, "sec-purpose": "prefetch"}, False),
    ],
)
def test_the_first_page_arms_and_is_hit_itself(
    url: str, headers: dict[str, str], arms: bool
) -> None:
    injector = Injector(one(arm="first_page"), 1, sites=(SITE,))

    assert bool(send(injector, url, headers=headers).injections) is arms
    assert injector.arming.armed is arms


def test_where_no_site_is_known_any_page_arms() -> None:
    injector = Injector(one(arm="first_page"), 1)

    assert hits(injector, ["https://any.test/"]) == [1]


PROGRAM = {"user-agent": "python-requests/2.32", "accept": "*/*"}


@pytest.mark.parametrize(
    ("resource", "url", "headers", "server", "arms"),
    [
        (["document", "other"], PAGE, PROGRAM, "site", True),
        (["document", "other"], PAGE, {}, "site", True),
        (["document", "other"], PAGE, DOCUMENT, "site", True),
        (["document", "other", "xhr"], PAGE, {"sec-fetch-mode": "cors"}, "site", True),
        (["document", "other"], "https://elsewhere.test/", PROGRAM, "site", False),
        (["document", "other"], PAGE, {"sec-fetch-dest": "manifest"}, "site", False),
        (["document", "other"], PAGE, PROGRAM, "llm", False),
        (["document"], PAGE, PROGRAM, "site", False),
        (["xhr", "other"], PAGE, PROGRAM, "site", False),
        (list(get_args(Resource.__value__)), PAGE, PROGRAM, "site", False),
        (None, PAGE, PROGRAM, "site", False),
    ],
)
def test_a_programs_first_request_is_a_page_if_a_rule_matches_it(
    resource: list[JsonValue] | None,
    url: str,
    headers: dict[str, str],
    server: Server,
    arms: bool,
) -> None:
    match: dict[str, JsonValue] = {} if resource is None else {"resource": resource}
    injector = Injector(one(arm="first_page", match=match), 1, sites=(SITE,))

    assert bool(send(injector, url, headers=headers, server=server).injections) is arms
    assert injector.arming.armed is arms


def test_a_programs_call_to_a_model_is_not_its_first_page() -> None:
    made = one(arm="first_page", match={"resource": ["document", "other"]})
    injector = Injector(made, 1)

    assert hits(injector, ["https://api.openai.com/v1/models", PAGE], PROGRAM) == [2]


@pytest.mark.parametrize("first", ["page", "call", "other"])
def test_whichever_comes_first_arms(first: str) -> None:
    injector = Injector(one(arm="first_page_or_llm_call"), 1, sites=(SITE,))
    match first:
        case "page":
            send(injector)
        case "call":
            injector.llm_call("digest")
        case _:
            send(injector, "https://elsewhere.example/app.js", headers=SCRIPT)

    assert injector.arming.armed == (first != "other")


def test_the_first_llm_call_arms() -> None:
    injector = Injector(one(arm="first_llm_call"), 1, sites=(SITE,))

    assert hits(injector, [PAGE]) == []
    injector.llm_call("a")
    assert only(send(injector).injections).ordinal == 1


def test_what_came_before_arming_is_counted_only_as_skipped() -> None:
    injector = Injector(one(arm="first_llm_call", match={"resource": "document"}), 1)
    hits(injector, FIVE)
    send(injector, f"{SITE}/app.js", headers=SCRIPT)

    assert injector.skipped() == (SkippedMatches("down", "not_armed", 5),)


def test_once_the_agent_has_ended_nothing_is_hit_or_counted() -> None:
    injector = Injector(one(arm="first_page", trigger={"every": 2}), 1, sites=(SITE,))
    send(injector)
    injector.arming.disarm()
    injector.llm_call("a judge's")

    assert hits(injector, FIVE) == []
    assert reasons(injector) == {"trial_over": 5}
    injector.arming.arm()
    assert only(send(injector).injections).ordinal == 2


def test_an_llm_call_after_the_end_arms_nothing() -> None:
    injector = Injector(one(arm="first_llm_call"), 1)
    injector.arming.disarm()
    injector.llm_call("a judge's")

    assert not injector.arming.armed


def test_skipped_is_numbered_per_rule_and_reason() -> None:
    pages, scripts = rule("pages", match={"resource": "document"}), rule("all")
    injector = Injector(scenario(pages, scripts, arm="first_llm_call"), 1)
    send(injector)
    send(injector, f"{SITE}/app.js", headers=SCRIPT)
    injector.llm_call("a")
    send(injector, f"{SITE}/favicon.ico", headers={"sec-fetch-dest": "image"})
    injector.arming.disarm()
    send(injector)

    assert set(injector.skipped()) == {
        SkippedMatches("pages", "not_armed", 1),
        SkippedMatches("pages", "trial_over", 1),
        SkippedMatches("all", "not_armed", 2),
        SkippedMatches("all", "never", 1),
        SkippedMatches("all", "trial_over", 1),
    }


# ---- what is not counted


@pytest.mark.parametrize(
    "url",
    [
        f"{SITE}/favicon.ico",
        "http://ocsp.digicert.com/MFEw",
        "https://clients2.google.com/time/1/current",
        "https://track.test/pixel",
        "https://judge.test/verify",
    ],
)
def test_never_is_neither_hit_nor_counted(url: str) -> None:
    injector = Injector(
        one(trigger={"first": 1}, never=("https://track.test/*",)),
        1,
        never=("https://judge.test/*",),
    )

    assert hits(injector, [url] * 3) == []
    assert reasons(injector) == {"never": 3}
    assert only(send(injector).injections).ordinal == 1


def test_a_model_is_skipped_unless_a_rule_spells_its_host_out() -> None:
    everything, named = rule("everything"), rule("named", match={"url": "https://llm.test/*"})
    injector = Injector(scenario(everything, named), 1)

    to_model = send(injector, "https://llm.test/v1/chat/completions", "POST", {}, server="llm")

    assert places(to_model.injections) == [("named", "", 1)]
    assert only(send(injector).injections).rule == "everything"
    assert only(send(injector).injections).ordinal == 2


def test_a_public_models_host_is_always_skipped() -> None:
    injector = Injector(one(arm="first_llm_call"), 1)
    send(injector, "https://api.openai.com/v1/models", headers={})
    injector.arming.arm()

    assert not send(injector, "https://api.openai.com/v1/models", headers={}).injections
    assert injector.skipped() == ()


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("OPTIONS", {"access-control-request-method": "POST", "sec-fetch-dest": "empty"}),
        ("GET", {"sec-purpose": "prefetch", **DOCUMENT}),
    ],
)
def test_preflights_and_prefetches_are_not_counted(method: str, headers: dict[str, str]) -> None:
    injector = Injector(
        scenario(
            rule("all"),
            rule("ok", match={"status": 200}, fault={"kind": "http_error", "stage": "response"}),
        ),
        1,
    )
    exchange = ask(PAGE, method, headers)

    assert injector.request(exchange, 0) == Decision()
    assert injector.response(answer(exchange), 0) == Decision()
    assert injector.skipped() == ()
    assert only(send(injector).injections).ordinal == 1


def test_each_hop_of_a_redirect_counts() -> None:
    injector = Injector(one(trigger={"nth": 2}), 1)

    assert hits(injector, [f"{SITE}/old", f"{SITE}/new"]) == [2]


# ---- match


def test_rules_count_their_matches_independently() -> None:
    injector = Injector(scenario(rule("a", trigger={"first": 2}), rule("b", trigger={"nth": 3})), 1)

    injections = [places(send(injector).injections) for _ in range(3)]

    assert injections == [[("a", "", 1)], [("a", "", 2)], [("b", "", 3)]]


@pytest.mark.parametrize(
    ("match", "fits"),
    [
        ({}, True),
        ({"method": "get"}, True),
        ({"method": ["POST", "PUT"]}, False),
        ({"resource": "document"}, True),
        ({"resource": ["script", "xhr"]}, False),
        ({"url": "https://shop.test/*"}, True),
        ({"url": "{sites}/*"}, True),
        ({"url": "https://other.test/*"}, False),
        ({"url": "https://shop.test/*", "method": "POST"}, False),
    ],
)
def test_all_given_keys_must_hold(match: dict[str, JsonValue], fits: bool) -> None:
    assert bool(send(Injector(one(match=match), 1, sites=(SITE,))).injections) is fits


def test_a_faults_own_resource_is_meant_unless_the_match_names_one() -> None:
    fault: JsonValue = {"kind": "javascript_failure"}
    own, named = one(fault=fault), one(fault=fault, match={"resource": "document"})

    def finds(which: str, headers: dict[str, str]) -> bool:
        inputs = {"own": own, "named": named}[which]
        return bool(send(Injector(inputs, 1), headers=headers).injections)

    assert finds("own", SCRIPT)
    assert not finds("own", DOCUMENT)
    assert finds("named", DOCUMENT)
    assert not finds("named", SCRIPT)


AFTER: JsonValue = {"kind": "http_error", "stage": "response"}


@pytest.mark.parametrize(
    ("match", "status", "content_type", "fits"),
    [
        ({"status": 200}, 200, "", True),
        ({"status": [301, 302]}, 200, "", False),
        ({"content_type": "text/html"}, 200, "Text/HTML; charset=utf-8", True),
        ({"content_type": "image/*"}, 200, "image/png", True),
        ({"content_type": "image/*"}, 200, "imagery/png", False),
        ({"content_type": ["IMAGE/*", "text/css"]}, 200, "text/css", True),
        ({"content_type": "image/*"}, 200, "", False),
        ({"status": 200, "content_type": "text/html"}, 404, "text/html", False),
    ],
)
def test_the_sites_answer_is_judged_when_it_comes(
    match: dict[str, JsonValue], status: int, content_type: str, fits: bool
) -> None:
    injector = Injector(one(match=match, fault=AFTER), 1)
    exchange = ask()

    assert injector.request(exchange, 0) == Decision()
    injections = injector.response(answer(exchange, status, content_type), 0).injections

    assert places(injections) == ([("down", "", 1)] if fits else [])


def test_what_was_skipped_when_asked_is_skipped_when_answered() -> None:
    injector = Injector(one(match={"status": 200}, fault=AFTER, arm="first_llm_call"), 1)
    early, late = ask(), ask()
    injector.request(early, 0)
    injector.llm_call("a")
    injector.request(late, 0)
    injector.arming.disarm()

    assert injector.response(answer(early), 1) == injector.response(answer(late), 1) == Decision()
    assert reasons(injector) == {"not_armed": 1, "trial_over": 1}


def test_an_answer_that_does_not_match_was_not_skipped() -> None:
    injector = Injector(one(match={"status": 404}, fault=AFTER, arm="first_llm_call"), 1)
    exchange = ask()
    injector.request(exchange, 0)
    injector.response(answer(exchange), 0)

    assert injector.skipped() == ()


def test_an_unknown_exchanges_answer_is_nobodys() -> None:
    injector = Injector(one(match={"status": 200}, fault=AFTER), 1)
    finished = ask()
    injector.request(finished, 0)
    injector.finish(finished.id)

    assert injector.response(answer(ask()), 0) == Decision()
    assert injector.response(answer(finished), 0) == Decision()


def test_method_and_url_decide_whether_a_rule_may_be_about_a_request() -> None:
    injector = Injector(one(match={"url": "{sites}/*", "method": "POST"}), 1, sites=(SITE,))

    assert injector.may_concern("POST", "HTTPS://shop.test:443/order#x")
    assert not injector.may_concern("GET", f"{SITE}/order")
    assert not injector.may_concern("POST", "https://other.test/order")


# ---- collisions

REPLY: JsonValue = {"kind": "http_error"}
DELAYED: JsonValue = {"kind": "http_error", "delay": 1.0}
LATE: JsonValue = {"kind": "javascript_failure", "mode": "delay", "delay": 1.0}
LATE_AFTER: JsonValue = {**LATE, "stage": "response"}  # type: ignore[dict-item]
CUT: JsonValue = {"kind": "connection_cut"}
CUT_AFTER: JsonValue = {"kind": "connection_cut", "stage": "response"}
POPUP: JsonValue = {"kind": "popup"}
OTHER_PAGE: JsonValue = {"kind": "wrong_page"}


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (REPLY, REPLY, False),
        (REPLY, DELAYED, False),
        (REPLY, CUT, False),
        (CUT, REPLY, False),
        (REPLY, AFTER, False),
        (AFTER, REPLY, False),
        (AFTER, AFTER, False),
        (AFTER, CUT_AFTER, False),
        (REPLY, LATE_AFTER, False),
        (LATE_AFTER, REPLY, False),
        (CUT, LATE, False),
        (CUT_AFTER, LATE_AFTER, False),
        (LATE, LATE, True),
        (LATE, LATE_AFTER, True),
        (LATE_AFTER, LATE, True),
        (LATE, REPLY, True),
        (LATE, AFTER, True),
        (REPLY, LATE, True),
        (AFTER, LATE, True),
        (AFTER, LATE_AFTER, True),
        (CUT_AFTER, LATE, True),
        (LATE_AFTER, AFTER, True),
        (POPUP, REPLY, True),
        (REPLY, POPUP, True),
        (POPUP, CUT, False),
        (CUT, POPUP, False),
        (OTHER_PAGE, REPLY, False),
        (REPLY, OTHER_PAGE, False),
        (OTHER_PAGE, AFTER, True),
        (AFTER, OTHER_PAGE, True),
    ],
)
def test_the_first_of_two_colliding_rules_is_applied(
    first: JsonValue, second: JsonValue, both: bool
) -> None:
    document: JsonValue = {"resource": "document"}
    rules = (rule("a", fault=first, match=document), rule("b", fault=second, match=document))

    decision = send(Injector(scenario(*rules), 1))

    assert [it.rule for it in decision.injections] == (["a", "b"] if both else ["a"])
    assert [it.rule for it in decision.superseded] == ([] if both else ["b"])


def test_a_rule_that_lost_may_still_win_where_the_first_is_silent() -> None:
    injector = Injector(scenario(rule("a", trigger={"nth": 2}), rule("b")), 1)

    decisions = [send(injector) for _ in range(3)]

    assert [only(decision.injections).rule for decision in decisions] == ["b", "a", "b"]
    assert only(decisions[1].superseded).ordinal == 2


def test_a_plan_at_the_request_precedes_one_at_the_answer() -> None:
    by_answer = rule("answer", match={"status": 200}, fault=AFTER)
    by_request = rule("request", fault=AFTER)
    injector = Injector(scenario(by_answer, by_request), 1)
    exchange = ask()

    asked, answered = injector.request(exchange, 0), injector.response(answer(exchange), 0)

    assert only(asked.injections).rule == "request"
    assert only(answered.superseded).rule == "answer"


def test_a_superseded_hit_uses_its_ordinal_but_not_the_budget() -> None:
    twice: JsonValue = {"random": {"times": 2, "probability": 1.0}}
    injector = Injector(scenario(rule("a", trigger={"first": 1}), rule("b", trigger=twice)), 1)

    decisions = [send(injector) for _ in range(4)]

    assert places(decisions[0].superseded) == [("b", "", 1)]
    rest = [it for decision in decisions for it in decision.injections if it.rule == "b"]
    assert places(rest) == [("b", "", 2), ("b", "", 3)]


# ---- budget


def test_a_miss_uses_its_ordinal_but_gives_the_budget_back() -> None:
    injector = Injector(one(trigger={"random": {"times": 1, "probability": 1.0}}), 1)
    missed = only(injector.request(ask(), 0).injections)

    assert hits(injector, [PAGE]) == []
    missed.settle(delivered=False)
    missed.settle(delivered=False)

    assert only(send(injector).injections).ordinal == 3
    assert hits(injector, FIVE) == []


def test_a_superseded_hit_gives_no_budget_back() -> None:
    once: JsonValue = {"random": {"times": 1, "probability": 1.0}}
    injector = Injector(scenario(rule("a", trigger={"first": 2}), rule("b", trigger=once)), 1)
    for _ in range(2):
        only(injector.request(ask(), 0).superseded).settle(delivered=False)

    assert hits(injector, FIVE) == [1]


def test_a_past_tasks_miss_gives_no_budget_to_the_next() -> None:
    injector = Injector(one(trigger={"random": {"times": 1, "probability": 1.0}}), 1)
    missed = only(injector.request(ask(), 0).injections)
    injector.begin_task(2)
    missed.settle(delivered=False)

    assert hits(injector, FIVE) == [1]


# ---- one-shots


def test_a_one_shot_hits_the_next_that_matches_and_no_other() -> None:
    injector = Injector(scenario(), 1)
    hits(injector, FIVE)
    injector.add_one_shot(one_shot(match={"url": f"{SITE}/a"}))

    assert hits(injector, [PAGE, f"{SITE}/a", f"{SITE}/a", PAGE]) == [2]


def test_a_one_shot_that_was_missed_hits_the_next() -> None:
    injector = Injector(scenario(), 1)
    injector.add_one_shot(one_shot())
    only(injector.request(ask(), 0).injections).settle(delivered=False)

    assert hits(injector, FIVE) == [1]


def test_a_one_shot_counts_from_when_it_was_added() -> None:
    match: JsonValue = {"status": 200, "resource": "document"}
    always = rule("always", per="url", match=match, fault=AFTER)
    injector = Injector(scenario(always), 1)

    def load(headers: dict[str, str], status: int) -> dict[str, int]:
        exchange = ask(headers=headers)
        injector.request(exchange, 0)
        decision = injector.response(answer(exchange, status), 0)
        return {it.rule: it.ordinal for it in (*decision.injections, *decision.superseded)}

    for headers, status in [(DOCUMENT, 200), (SCRIPT, 200), (DOCUMENT, 404), (DOCUMENT, 200)]:
        load(headers, status)
    injector.add_one_shot(one_shot(match=match, fault=AFTER))

    assert load(DOCUMENT, 404) == {}
    assert load(DOCUMENT, 200) == {"always": 3, "once": 1}


@pytest.mark.parametrize(
    "keys",
    [
        {"per": "rule"},
        {"trigger": {"first": 1}},
        {"trigger": {"always": True, "after_step": 1}},
        {"name": "down"},
    ],
)
def test_a_one_shot_that_no_replay_could_find_is_refused(keys: dict[str, JsonValue]) -> None:
    refused = Rule.model_validate({**rule("once", per="url"), **keys})

    with pytest.raises(ValueError, match=r"numbers per url|there already"):
        Injector(one(), 1).add_one_shot(refused)


def test_one_name_is_one_rule_in_all_tasks_of_a_trial() -> None:
    injector = Injector(scenario(), 1)
    injector.add_one_shot(one_shot())
    with pytest.raises(ValueError, match="'once' is there already"):
        injector.add_one_shot(one_shot())
    injector.begin_task(2)
    with pytest.raises(ValueError, match="'once' is there already"):
        injector.add_one_shot(one_shot(match={"method": "POST"}))

    injector.add_one_shot(one_shot())

    assert hits(injector, FIVE) == [1]


def test_rules_in_force_are_the_scenarios_and_the_added() -> None:
    injector = Injector(one(), 1)
    injector.add_one_shot(one_shot())

    assert [it.name for it in injector.rules] == ["down", "once"]
    injector.begin_task(2)
    assert [it.name for it in injector.rules] == ["down"]


# ---- tasks


def test_a_task_begins_as_if_nothing_had_been() -> None:
    of = one(trigger={"random": {"times": 2}}, arm="first_llm_call")
    used, fresh = Injector(of, 1), Injector(of, 7)
    used.llm_call("a")
    hits(used, FIVE)
    used.arming.disarm()
    used.begin_task(7)

    assert (used.arming.armed, used.arming.steps, used.skipped()) == (False, 0, ())
    for injector in (used, fresh):
        injector.llm_call("a")
        assert injector.arming.steps == 1
    assert hits(used, URLS * 5) == hits(fresh, URLS * 5)


def test_an_answer_of_the_task_before_is_not_counted() -> None:
    injector = Injector(one(match={"status": 200}, fault=AFTER, trigger={"first": 1}), 1)
    old, new = ask(), ask()
    injector.request(old, 0)
    injector.begin_task(2)
    injector.request(new, 0)

    assert injector.response(answer(old), 0) == Decision()
    assert only(injector.response(answer(new), 0).injections).ordinal == 1


# ---- schedules


@given(stream=st.lists(st.sampled_from(URLS), max_size=30), seed=st.integers(0, 9))
def test_a_schedule_hits_exactly_its_places(stream: list[str], seed: int) -> None:
    schedule = frozenset({(0, "down", f"GET {URLS[1]}", 2), (0, "down", f"GET {URLS[2]}", 1)})
    injector = Injector(one(trigger={"first": 3}, per="url"), seed, schedule=schedule)

    injections = [it for url in stream for it in send(injector, url).injections]

    possible = {
        (0, "down", f"GET {url}", number)
        for url in URLS
        for number in range(1, stream.count(url) + 1)
    }
    assert {(0, *place) for place in places(injections)} == schedule & possible


def test_a_schedule_separates_tasks() -> None:
    schedule = frozenset({(0, "down", "", 1), (2, "down", "", 2)})
    injector = Injector(one(trigger={"probability": 1.0}), 1, schedule=schedule)

    injections = []
    for _ in range(3):
        injections.append(hits(injector, FIVE))
        injector.begin_task(1)

    assert injections == [[1], [], [2]]


def test_a_replay_knows_the_one_shots_already() -> None:
    again = scenario(one_shot(match={"resource": "document"}).model_dump(exclude_none=True))
    place = (0, "once", f"EXCHANGE GET {PAGE}", 3)
    injector = Injector(again, 1, schedule=frozenset({place}))
    send(injector)
    send(injector, headers=SCRIPT)  # An exchange there, though not one that matches.
    injector.add_one_shot(one_shot(match={"resource": "document"}))

    assert hits(injector, FIVE) == [1]
    with pytest.raises(ValueError, match="there already"):
        injector.add_one_shot(one_shot(match={"method": "POST"}))


def test_a_replays_own_one_shot_has_room_for_itself_once() -> None:
    shot = one_shot()
    replaying = Injector(Scenario(name="s", rules=(shot,)), 1, schedule=frozenset())
    assert replaying.accepts_one_shot(shot)
    assert not replaying.accepts_one_shot(one_shot(match={"method": "POST"}))
    replaying.add_one_shot(shot)
    assert not replaying.accepts_one_shot(shot)
    assert not Injector(Scenario(name="s", rules=(shot,)), 1).accepts_one_shot(shot)


def test_a_one_shot_of_a_new_task_knows_nothing_of_the_last() -> None:
    injector = Injector(scenario(), 1)
    hits(injector, FIVE)
    injector.begin_task(2)
    injector.add_one_shot(one_shot())

    assert only(send(injector).injections).ordinal == 1


# ---- a fault's state


class Worse(Fault, frozen=True):
    """Hold each time a second longer, by what it remembers."""

    summary: ClassVar = "Hold longer each time."

    def effects(
        self, exchange: Exchange, state: FaultState, rng: KeyedRng
    ) -> tuple[tuple[Effect, ...], FaultState]:
        seconds = state.get("seconds", 0)
        assert isinstance(seconds, int)
        return (Delay(seconds + 1), Reply(500)), {"seconds": seconds + 1}

    def outcome(self) -> str:
        return "answered 500"


def worse(*rules: dict[str, JsonValue]) -> Injector:
    """Return the injector of a scenario whose rules all have that fault."""
    plain = scenario(*rules)
    remembering = tuple(it.model_copy(update={"fault": Worse()}) for it in plain.rules)
    return Injector(plain.model_copy(update={"rules": remembering}), 1)


def holds_of(decision: Decision) -> dict[str, float]:
    planned = (*decision.injections, *decision.superseded)
    return {it.rule: it.effects[0].seconds for it in planned if isinstance(it.effects[0], Delay)}


def test_a_fault_remembers_by_rule_and_task() -> None:
    injector = worse(rule("odd", match={"method": "GET"}), rule("other", match={"method": "POST"}))

    result = [holds_of(send(injector, method=method)) for method in ("GET", "GET", "POST", "GET")]
    injector.begin_task(1)

    assert result == [{"odd": 1}, {"odd": 2}, {"other": 1}, {"odd": 3}]
    assert holds_of(send(injector)) == {"odd": 1}


def test_a_superseded_hit_is_not_remembered() -> None:
    injector = worse(rule("a", trigger={"first": 2}), rule("b"))

    result = [holds_of(send(injector)) for _ in range(4)]

    assert result == [{"a": 1, "b": 1}, {"a": 2, "b": 1}, {"b": 1}, {"b": 2}]


def test_a_silent_repeat_is_not_remembered() -> None:
    injector = worse(rule("a"))
    first = ask()
    injector.request(first, 0)
    injector.died(first.id, 0)

    assert holds_of(injector.request(ask(), 0.1)) == {"a": 1}
    assert holds_of(injector.request(ask(), 0.1)) == {"a": 2}


# ---- injections


def test_every_injection_has_a_number_of_its_own() -> None:
    injector = Injector(scenario(rule("a"), rule("b")), 1)
    decisions = [send(injector) for _ in range(3)]
    injector.begin_task(2)
    decisions.append(send(injector))

    ids = [it.id for decision in decisions for it in (*decision.injections, *decision.superseded)]

    assert ids == [f"i{number}" for number, _ in zip(count(1), ids, strict=False)]


def test_an_injection_says_what_was_injected_where() -> None:
    exchange = Exchange("x1", ask().request)

    injection = only(
        Injector(one(fault={"kind": "http_error", "status": 503}), 1)
        .request(exchange, 0)
        .injections
    )

    assert (injection.exchange, injection.stage, injection.repeat_of) == ("x1", "request", None)
    assert injection.fault == HttpError(status=503)
    assert [type(effect).__name__ for effect in injection.effects] == ["Reply"]


@pytest.mark.slow
def test_finished_exchanges_take_little_memory() -> None:
    # Each address is counted by itself, and each injection is missed.
    injector = Injector(one(per="url", fault={"kind": "network_error"}), 1)
    asked = count()

    def ask_for(number: int) -> None:
        for _ in range(number):
            exchange = ask(f"{SITE}/products/{next(asked)}")
            for injection in injector.request(exchange, 0.0).injections:
                injection.settle(delivered=False)
            injector.finish(exchange.id)

    # More than any cache holds.
    block = 1025
    tracemalloc.start()
    try:
        ask_for(2 * block)
        warm, _ = tracemalloc.get_traced_memory()
        ask_for(2 * block)
        last, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (last - warm) / (2 * block) < 60


def test_a_lasting_fault_is_one_occurrence_despite_the_trigger() -> None:
    quota: JsonValue = {"kind": "rate_limit", "window": 10}
    injector = Injector(scenario(rule("quota", fault=quota, trigger={"first": 1})), seed=1)
    asked = [send(injector, now=at).injections for at in (0.0, 4.0, 9.9, 10.0, 50.0)]

    first, *later = [hit.repeat_of for hits in asked for hit in hits]
    assert [len(hits) for hits in asked] == [1, 1, 1, 0, 0]
    assert first is None
    assert later == [asked[0][0].id] * 2


def test_a_lasting_fault_uses_one_unit_of_the_budget() -> None:
    trigger: JsonValue = {"random": {"probability": 1.0, "times": 2}}
    quota: JsonValue = {"kind": "rate_limit", "window": 10}
    injector = Injector(scenario(rule("quota", fault=quota, trigger=trigger)), seed=1)
    hits = [bool(send(injector, now=at).injections) for at in (0.0, 4.0, 9.0, 20.0, 25.0, 40.0)]

    assert hits == [True, True, True, True, True, False]
