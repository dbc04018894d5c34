"""What `warex init` writes names every key, and is a campaign as it stands."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from warex.benchmarks import BENCHMARKS
from warex.campaigns.config.campaign import (
    AgentConfig,
    Budget,
    CampaignConfig,
    ConditionConfig,
    load_campaign,
)
from warex.campaigns.config.template import template
from warex.campaigns.plan.campaign_plan import plan
from warex.errors import CampaignError
from warex.llm.prices.table import Price
from warex.traffic import TrafficOptions

KINDS = [kind.name for kind in BENCHMARKS]


def loaded(folder: Path, text: str) -> CampaignConfig:
    (folder / "c.toml").write_text(text)
    return load_campaign(str(folder / "c.toml"))


@pytest.mark.parametrize("benchmark", KINDS)
def test_the_template_loads_for_every_benchmark(tmp_path: Path, benchmark: str) -> None:
    (kind,) = (each for each in BENCHMARKS if each.name == benchmark)
    example = loaded(tmp_path, kind.example())

    config = loaded(tmp_path, template("mine", benchmark, "mine.toml"))

    assert config.name == "mine"
    assert config.benchmark == example.benchmark
    assert config.agents == example.agents
    assert (config.tasks, config.timeout_s) == (example.tasks, example.timeout_s)


def test_the_template_can_be_planned_unchanged(tmp_path: Path) -> None:
    planned = plan(loaded(tmp_path, template("mine", "testbed", "mine.toml")))

    assert len(planned.trials) == 6 * 5


def test_every_key_is_in_it_with_its_default(tmp_path: Path) -> None:
    text = template("mine", "testbed", "mine.toml")

    for model in (CampaignConfig, Budget, AgentConfig, ConditionConfig):
        for key in model.model_fields:
            assert re.search(rf"^(# )?{key} = |^\[+{key}\]+$", text, re.MULTILINE), key
    for name in (field.name for field in fields(TrafficOptions)):
        assert re.search(rf"^(# )?{name} = ", text, re.MULTILINE), name
    inputs = tomllib.loads(text)
    assert loaded(tmp_path, text).traffic == TrafficOptions()
    for key in ("repeats", "seed", "jobs", "timeout_s", "isolate", "llm_cache", "schema_version"):
        assert inputs[key] == CampaignConfig.model_fields[key].default, key


def test_what_is_commented_out_is_valid_too(tmp_path: Path) -> None:
    text = template("mine", "testbed", "mine.toml")
    key = r"^# (\[\[\w+\]\]|[\w-]+ = (?!\{ name).*)$"

    full = loaded(tmp_path, re.sub(key, r"\1", text, flags=re.MULTILINE))

    assert full.budget == Budget(usd=5, tokens=2_000_000, minutes=30)
    assert full.longest_hold_s == 10
    assert full.prices == {"my-model": Price(input=0.1, output=0.4)}
    assert full.traffic == TrafficOptions(upstream="http://proxy.example:3128", arm="first_page")
    assert full.agents[0].base_url is not None
    assert full.conditions[-1].control
    assert (full.conditions[-3].intensity, full.conditions[-3].frequency) == (2, 3)
    assert full.conditions[-2].first == 3


def test_no_slot_is_left_open() -> None:
    for benchmark in KINDS:
        assert not re.search(r"@\w+@", template("mine", benchmark, "mine.toml"))


@pytest.mark.parametrize(
    ("name", "benchmark", "says"),
    [
        ("mine", "tesbed", "there is no benchmark 'tesbed'; did you mean 'testbed'?"),
        (" x", "testbed", "name"),
        ("a\nb", "testbed", "is not a name"),
        ("", "testbed", "name"),
        ("x" * 90, "testbed", "name"),
    ],
)
def test_impossible_values_are_refused_in_a_sentence(name: str, benchmark: str, says: str) -> None:
    with pytest.raises(CampaignError, match=re.escape(says)):
        template(name, benchmark, "c.toml")


def test_a_name_with_quotes_is_kept(tmp_path: Path) -> None:
    assert loaded(tmp_path, template('a "b" \\c', "testbed", "c.toml")).name == 'a "b" \\c'
