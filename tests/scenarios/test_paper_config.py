"""The paper's config.json becomes the scenario that the paper describes (§3.3)."""

import json
from pathlib import Path

import pytest

from warex.errors import ScenarioError
from warex.exchange import Exchange, Request
from warex.scenarios.injection.injector import Injector
from warex.scenarios.load import load_scenario
from warex.scenarios.scenario import Scenario


def load(folder: Path, config: object) -> Scenario:
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return load_scenario(path)


def refused(folder: Path, config: object) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(folder, config)
    return str(caught.value).replace(f"{folder}/", "")


def test_frequency_0_hits_only_the_first_matching_url(tmp_path: Path) -> None:
    scenario = load(
        tmp_path,
        {"failure_type": "server_error", "url": "https://shop.example/cart", "frequency": 0},
    )
    (rule,) = scenario.rules
    assert (scenario.name, rule.name, rule.per) == ("config", "server-error-1", "rule")
    assert rule.match.url_exact == "https://shop.example/cart"
    assert rule.trigger.model_dump(exclude_none=True) == {"first": 1}
    assert rule.fault.model_dump(include={"kind", "status"}) == {
        "kind": "http_error",
        "status": 500,
    }


def test_a_positive_frequency_is_chance_until_exactly_so_many_were_hit(tmp_path: Path) -> None:
    scenario = load(
        tmp_path,
        {"failure_type": "network_error", "url": ".*cart.*", "url_match": "regex", "frequency": 3},
    )
    (rule,) = scenario.rules
    assert rule.match.url_regex == ".*cart.*"
    assert rule.trigger.random is not None
    assert (rule.trigger.random.times, rule.trigger.random.probability) == (3, 0.5)


@pytest.mark.parametrize(
    ("match", "url", "hit"),
    [
        ("exact", "https://shop.example/style.css", ("https://shop.example/style.css", "style")),
        ("exact", "https://shop.example/", ("https://shop.example/", "document")),
        ("regex", r"\.css$", ("https://shop.example/style.css", "style")),
        ("regex", "/_next/", ("https://shop.example/_next/data.json", "empty")),
        ("regex", "/_next/", ("https://shop.example/_next/app.js", "script")),
    ],
)
def test_the_url_alone_decides_what_a_js_error_hits(
    tmp_path: Path, match: str, url: str, hit: tuple[str, str]
) -> None:
    config = {"failure_type": "js_error", "url": url, "url_match": match, "frequency": 0}
    injector = Injector(load(tmp_path, config), seed=1)
    asked, destination = hit

    decisions = [
        injector.request(
            Exchange(name, Request("GET", asked, {"sec-fetch-dest": destination})), now=1.0
        )
        for name in ("e1", "e2")
    ]

    assert [[i.rule for i in each.injections] for each in decisions] == [["js-error-1"], []]


def test_several_failures_become_rules_in_order(tmp_path: Path) -> None:
    scenario = load(
        tmp_path,
        {
            "failures": [
                {"failure_type": "js_error", "delay": 2},
                {"failure_type": "server_error", "status_code": 503, "frequency": 1},
            ]
        },
    )
    script, server = scenario.rules
    assert [rule.name for rule in scenario.rules] == ["js-error-1", "server-error-2"]
    assert (script.match.url, script.resources) == ("{sites}", ("script",))
    assert (server.match.url, server.resources) == ("{sites}", ("document",))
    assert script.fault.model_dump(include={"kind", "delay"}) == {
        "kind": "javascript_failure",
        "delay": 2,
    }
    assert server.fault.model_dump(include={"status"}) == {"status": 503}
    assert server.trigger.random is not None
    assert server.trigger.random.times == 1


@pytest.mark.parametrize(
    "config",
    [
        {"type": "HTTP error", "urlPattern": "a", "matchType": "RegExp", "freq": 2, "code": 502},
        {"failureType": "server", "url": "a", "url-match": "regex", "frequency": 2, "status": 502},
    ],
)
def test_other_spellings_mean_the_same(tmp_path: Path, config: dict[str, object]) -> None:
    (tmp_path / "plain").mkdir()
    plain = {
        "failure_type": "server_error",
        "url": "a",
        "url_match": "regex",
        "frequency": 2,
        "status_code": 502,
    }
    # `type` alone could stand in anything; with a frequency it is the paper's file.
    assert load(tmp_path, config) == load(tmp_path / "plain", plain)


def test_the_scenario_can_be_made_of_any_of_the_papers_three_types(tmp_path: Path) -> None:
    kinds = {}
    for name in ("network_error", "server_error", "js_error", "javascript", "network_delay"):
        (rule,) = load(tmp_path, {"failure_type": name}).rules
        kinds[name] = rule.fault.model_dump()["kind"]
    assert kinds == {
        "network_error": "network_error",
        "server_error": "http_error",
        "js_error": "javascript_failure",
        "javascript": "javascript_failure",
        "network_delay": "network_error",
    }


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            {"failure_type": "sever_error"},
            "failure_type: \"sever_error\" is not allowed; did you mean 'server_error'?",
        ),
        ({"frequency": 1}, "'failure_type' is missing; give one of network_error"),
        (
            {"failure_type": "js_error", "frequncy": 1},
            "there is no key 'frequncy' here; did you mean 'frequency'?",
        ),
        (
            {"failure_type": "js_error", "frequency": -1},
            "frequency: -1 is not allowed; give a whole number from 0",
        ),
        ({"failure_type": "js_error", "frequency": 1.5}, "frequency: 1.5 is not allowed"),
        (
            {"failure_type": "js_error", "freq": 1, "frequency": 2},
            "'frequency' and another key both mean 'frequency'; keep one of them",
        ),
        (
            {"failure_type": "js_error", "status": 503},
            "a js_error always answers 504; leave 'status_code' out",
        ),
        (
            {"failure_type": "server_error", "status": 200},
            "status_code: 200 is not allowed; give a whole number from 400 to 599",
        ),
        ({"failure_type": "network_error", "delay": -1}, "delay: -1 is not allowed"),
        (
            {"failure_type": "network_error", "url": "(", "url_match": "regex"},
            "url `(` is not a regular expression",
        ),
        ({"failures": []}, "failures: [] is not allowed; give a list"),
        (
            {"failures": [{"failure_type": "js_error"}, {"failure_type": "x"}]},
            'failures[1].failure_type: "x" is not allowed',
        ),
        ({"failures": 3}, "failures: 3 is not allowed"),
    ],
)
def test_a_mistake_is_reported_with_its_place_and_what_is_allowed(
    tmp_path: Path, config: object, sentence: str
) -> None:
    message = refused(tmp_path, config)
    assert message.startswith("config.json, read as the paper's config.json: ")
    assert sentence in message


def test_a_scenario_is_not_taken_for_the_papers_file(tmp_path: Path) -> None:
    assert refused(tmp_path, {"name": "s", "rules": [], "frequency": 1}).startswith(
        "config.json: there is no key 'frequency' here"
    )
