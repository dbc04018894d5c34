"""The paper's failures and the four of connections, ready to use."""

import re

import pytest

from warex.exchange import Exchange, Request
from warex.scenarios.injection.injector import Injector
from warex.scenarios.lint.linter import lint
from warex.scenarios.load import load_preset, load_scenario
from warex.scenarios.presets import preset_names
from warex.scenarios.scenario import Rule


def test_the_papers_failures_are_there() -> None:
    paper = [name.partition("/")[2] for name in preset_names() if name.startswith("paper/")]
    assert paper == [
        *("javascript", "malicious-popup", "network-error", "partial-load", "popup"),
        "server-error",
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("connection/dns", "dns_failure"),
        ("connection/refused", "connection_refused"),
        ("connection/timeout", "connection_timeout"),
        ("connection/tls", "tls_error"),
    ],
)
def test_each_way_not_to_reach_a_site_fails_each_host_once(name: str, kind: str) -> None:
    (rule,) = load_preset(name).rules
    assert rule.fault.kind == kind
    assert (rule.per, rule.trigger.first) == ("url", 1)
    assert lint(load_preset(name)) == ()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("transport/downgrade", "protocol_downgrade"),
        ("transport/packet-loss", "packet_loss"),
        ("transport/packet-reorder", "packet_reorder"),
    ],
)
def test_a_worse_line_concerns_every_connection_to_a_site(name: str, kind: str) -> None:
    (rule,) = load_preset(name).rules
    assert (rule.fault.kind, rule.trigger.always) == (kind, True)
    assert lint(load_preset(name)) == ()


@pytest.mark.parametrize(
    ("name", "resource", "kind"),
    [
        ("spa/chunks", "script", "javascript_failure"),
        ("spa/network-error", "xhr", "network_error"),
        ("spa/server-error", "xhr", "http_error"),
    ],
)
def test_what_a_single_page_site_asks_for_later_fails_once(
    name: str, resource: str, kind: str
) -> None:
    (rule,) = load_preset(name).rules
    assert (rule.resources, rule.fault.kind) == ((resource,), kind)
    assert (rule.per, rule.trigger.first) == ("url", 1)
    assert lint(load_preset(name)) == ()


@pytest.mark.parametrize(
    ("second", "kinds"),
    [
        (5.0, {"http_error"}),
        (30.5, set()),
        (60.0, {"latency", "truncated_body"}),
        (95.0, set()),
    ],
)
def test_a_bad_day_is_errors_then_slow_then_healed(second: float, kinds: set[str]) -> None:
    injector = Injector(load_preset("mixed/bad-day"), seed=1)
    page = Request("GET", "https://shop.example/", {"sec-fetch-dest": "document"})

    hits = [
        injection.fault.kind
        for number in range(200)
        for injection in injector.request(Exchange(f"x{number}", page), second).injections
    ]

    assert set(hits) == kinds


def test_a_phone_on_the_way_has_a_line_and_two_tunnels() -> None:
    lasting = [
        (rule.fault.kind, rule.trigger.between)
        for rule in load_preset("mixed/flaky-mobile").rules
        if rule.trigger.always
    ]

    assert lasting == [
        ("bandwidth", None),
        ("connection_cut", (20, 35)),
        ("connection_cut", (70, 80)),
    ]


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_named_as_its_file_and_says_what_it_does(name: str) -> None:
    scenario = load_scenario(name)
    assert scenario == load_preset(name)
    assert scenario.name == name
    assert scenario.description


@pytest.mark.parametrize("name", preset_names())
def test_presets_have_visibility_and_duration_labels(name: str) -> None:
    words = load_preset(name).description.lower()

    assert re.search(r"\b(explicit|implicit)\b", words)
    (lasting,) = set(re.findall(r"\b(transient|permanent)\b", words))
    assert lasting == ("permanent" if any(map(_stays, load_preset(name).rules)) else "transient")


def _stays(rule: Rule) -> bool:
    """Whether what the rule does stays until the agent does something about it."""
    if rule.trigger.always:
        return rule.trigger.trials is None and rule.trigger.between is None
    asked_again = all(effect.traits.recoverable_by_retry for effect in rule.fault.effects_on_page())
    lasts = rule.fault.category in ("wall", "session", "change")
    return lasts or not (asked_again or rule.targets_mcp or rule.targets_llm)


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_leaves_the_site_and_the_arming_open(name: str) -> None:
    scenario = load_preset(name)
    of_llm, of_mcp = name.startswith("llm/"), name.startswith("mcp/")
    assert scenario.arm == ("first_llm_call" if of_llm else "start" if of_mcp else None)
    for rule in scenario.rules:
        assert (rule.targets_llm, rule.targets_mcp) == (of_llm, of_mcp)
        elsewhere = of_llm or of_mcp or rule.fault.third_party_only
        assert elsewhere or (rule.match.url or "").startswith("{sites}")


@pytest.mark.parametrize("name", sorted({*preset_names()} - {"paper/javascript"}))
def test_a_preset_numbers_together_only_documents_which_arrive_in_order(name: str) -> None:
    for rule in load_preset(name).rules:
        assert (
            rule.per == "url"
            or rule.targets_llm
            or rule.targets_mcp
            or rule.resources == ("document",)
        )


@pytest.mark.parametrize(
    ("name", "resource", "first", "fault"),
    [
        (
            "paper/network-error",
            "document",
            1,
            {"kind": "network_error", "status": 504, "delay": 10},
        ),
        ("paper/server-error", "document", 1, {"kind": "http_error", "status": 500, "delay": 0}),
        ("paper/javascript", "script", 5, {"kind": "javascript_failure", "delay": 10}),
    ],
)
def test_the_presets_say_what_the_paper_did(
    name: str, resource: str, first: int, fault: dict[str, object]
) -> None:
    (rule,) = load_preset(name).rules
    assert rule.resources == (resource,)
    assert rule.trigger.first == first
    assert rule.fault.model_dump(include=set(fault)) == fault
    assert rule.per == "rule"


@pytest.mark.parametrize("name", [name for name in preset_names() if name.startswith("variation/")])
def test_a_changed_site_is_changed_on_every_page_and_works_as_before(name: str) -> None:
    (rule,) = load_preset(name).rules
    assert name == f"variation/{rule.fault.kind.replace('_', '-')}"
    assert (rule.resources, rule.trigger.always) == (("document",), True)
    assert rule.fault.category == "variation"
    assert "permanent" in load_preset(name).description
    assert lint(load_preset(name)) == ()


SCRIPTS = [f"https://shop.example/{name}.js" for name in "abcdefg"]


@pytest.mark.parametrize(
    ("name", "asked", "hit"),
    [
        ("paper/javascript", SCRIPTS, 5),
        ("paper/javascript", SCRIPTS[:2] * 6, 5),
        ("failing/scripts", SCRIPTS * 6, 5 * len(SCRIPTS)),
    ],
)
def test_the_papers_javascript_failure_is_five_exchanges_a_task(
    name: str, asked: list[str], hit: int
) -> None:
    injector = Injector(load_preset(name), seed=1, sites=("https://shop.example",))
    for task in ("one", "two"):
        injector.begin_task(seed=2)
        assert sum(_is_hit(injector, f"{task}{n}", url) for n, url in enumerate(asked)) == hit


def _is_hit(injector: Injector, exchange: str, url: str, kind: str = "script") -> bool:
    request = Request("GET", url, {"sec-fetch-dest": kind})
    return bool(injector.request(Exchange(exchange, request), now=1.0).injections)


@pytest.mark.parametrize("name", ["random/server-error", "random/network-error"])
def test_what_is_learnt_from_fails_at_random_pages_and_twice_at_most(name: str) -> None:
    each: list[list[int]] = []
    for seed in range(60):
        injector = Injector(load_preset(name), seed=seed, sites=("https://shop.example",))
        asked = [f"https://shop.example/{at}" for at in range(8)]
        hits = [_is_hit(injector, str(at), url, "document") for at, url in enumerate(asked)]
        each.append([at for at, hit in enumerate(hits) if hit])

    assert max(map(len, each)) == 2
    assert {at for failed in each for at in failed} >= {0, 1, 2, 3, 4}
