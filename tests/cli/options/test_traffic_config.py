"""The options about traffic come to one configuration, or to a sentence that names the option."""

from pathlib import Path
from typing import Any

import pytest

from warex.cli.options.traffic_config import (
    ProxyOptions,
    build_proxy_config,
    ineffective_rules,
    unvalidated_config,
)
from warex.clock import Clock
from warex.errors import InputError
from warex.lane.config import ProxyConfig
from warex.llm.defences import DEFENCES
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios.load import load_scenario
from warex.traces import EVENTS, TraceWriter, TrialBegan
from warex.traffic import TrafficOptions


def made(folder: Path, **options: Any) -> ProxyConfig:
    return build_proxy_config(CertificateAuthority(folder), ProxyOptions(**options))


def test_a_preset_is_loaded(tmp_path: Path) -> None:
    config = made(tmp_path, scenario="paper/server-error", seed=7)

    assert config.ca == tmp_path
    assert config.seed == 7
    assert config.scenario is not None
    assert config.scenario.name == "paper/server-error"


def test_a_defence_is_one_of_the_catalogue_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "hint.txt").write_text("Look twice.")

    assert made(tmp_path, defence="refresh").defence is DEFENCES[0]
    defence = made(tmp_path, defence=str(tmp_path / "hint.txt")).defence
    assert defence is not None
    assert defence.text == "Look twice."


def test_a_replay_brings_its_defence_unless_another_is_named(tmp_path: Path) -> None:
    began = TrialBegan(
        scenario=load_scenario("paper/server-error").model_dump(mode="json"),
        defence=DEFENCES[0].model_dump(),
    )
    with TraceWriter(tmp_path / EVENTS, Clock()) as trace:
        trace.write(began)

    assert made(tmp_path, replay=tmp_path).defence == DEFENCES[0]
    assert made(tmp_path, replay=tmp_path, defence=DEFENCES[1].name).defence == DEFENCES[1]


def test_a_replay_is_armed_as_it_was_then(tmp_path: Path) -> None:
    scenario = load_scenario("paper/server-error").model_dump(mode="json")
    with TraceWriter(tmp_path / EVENTS, Clock()) as trace:
        trace.write(TrialBegan(scenario=scenario, arm="first_page"))

    config = made(tmp_path, replay=tmp_path, traffic=TrafficOptions(arm="start", insecure=True))

    assert (config.traffic.arm, config.traffic.insecure) == ("first_page", True)


def test_a_configuration_without_loading_is_read_as_the_loaded_one(tmp_path: Path) -> None:
    options = ProxyOptions(
        scenario="paper/server-error",
        seed=7,
        sites=("https://shop.example",),
        out=tmp_path / "out",
        traffic=TrafficOptions(arm="start", insecure=True),
    )
    ca = CertificateAuthority(tmp_path)

    sent = unvalidated_config(ca, options, "namespace").model_dump_json()

    loaded = build_proxy_config(ca, options, capture="namespace")
    assert ProxyConfig.model_validate_json(sent) == loaded
    assert (loaded.seed, loaded.sites, loaded.out) == (7, options.sites, options.out)


@pytest.mark.parametrize(
    ("options", "own_scenario", "needs_loading"),
    [
        ({}, None, False),
        ({"scenario": "paper/server-error", "out": Path("t"), "seed": 2}, None, False),
        ({"scenario": "mine.yaml"}, "mine.yaml", False),
        ({"replay": Path("t")}, None, True),
        ({"defence": "refresh"}, None, True),
        ({"vocabulary": "webarena"}, None, True),
        ({"tasks": "harness"}, None, True),
    ],
)
def test_only_presets_and_what_is_parsed_already_need_no_loading(
    options: dict[str, Any], own_scenario: str | None, needs_loading: bool
) -> None:
    made_options = ProxyOptions(**options)

    assert (made_options.own_scenario, made_options.needs_loading) == (own_scenario, needs_loading)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"replay": Path("t"), "scenario": "s"}, "--replay brings its own scenario"),
        ({"defence": "refesh"}, "there is no defence 'refesh'; did you mean 'refresh'"),
    ],
)
def test_impossible_settings_are_refused_in_a_sentence(
    tmp_path: Path, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        made(tmp_path, **options)


def test_rules_that_are_about_none_of_the_named_sites_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        "schema_version: 1\nname: s\nrules:\n  - name: down\n    match: {url: 'https://shop.example/*'}\n"
        "    trigger: {always: true}\n    fault: {kind: http_error}\n"
    )

    (sentence,) = ineffective_rules(str(file), ("https://other.example",))

    assert sentence.startswith("Rule 'down' hits nothing on the task sites")
    assert ineffective_rules(str(file), ("https://shop.example",)) == ()
    assert ineffective_rules(str(file), ()) == ()


def test_a_rule_that_can_never_hit_anything_is_reported_without_sites_too(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        "schema_version: 1\nname: s\nrules:\n  - name: drop\n    match: {resource: document}\n"
        "    trigger: {always: true}\n    fault: {kind: websocket_fault}\n"
    )

    (sentence,) = ineffective_rules(str(file), ())

    assert sentence.startswith("Rule 'drop' can never apply: websocket_fault is about WebSockets")
    assert ineffective_rules(None, ()) == ()
