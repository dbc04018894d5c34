"""The published JSON Schema is the model's."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from warex.campaigns.config.campaign import CampaignConfig, built_in_names
from warex.campaigns.config.json_schema import campaign_schema

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "docs/reference/campaign.schema.json"
PRESETS = ROOT / "src/warex/campaigns/config/presets"

SMALL = {
    "name": "c",
    "agents": [{"name": "a", "model": "m"}],
    "conditions": [{"name": "clean"}],
}


def test_the_published_schema_is_current() -> None:
    # To renew it: warex schema campaign > docs/reference/campaign.schema.json
    assert json.loads(PUBLISHED.read_text()) == campaign_schema()


def test_the_schema_is_one_and_names_its_dialect() -> None:
    schema = campaign_schema()

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == "WAREX campaign"


def test_every_key_is_described() -> None:
    schema = campaign_schema()
    models = {name: d for name, d in schema["$defs"].items() if "properties" in d}
    for name, model in {**models, "CampaignConfig": schema}.items():
        if name in ("Defence", "BenchmarkConfig"):
            continue
        for key, message in model["properties"].items():
            assert message.get("description"), f"{name}.{key}"


@pytest.mark.parametrize("name", built_in_names())
def test_every_built_in_campaign_fits_the_schema(name: str) -> None:
    data = tomllib.loads((PRESETS / f"{name}.toml").read_text())

    assert not list(Draft202012Validator(campaign_schema()).iter_errors(data))


@pytest.mark.parametrize(
    "more",
    [
        {"benchmark": "testbed"},
        {"benchmark": {"name": "command", "sites": ["https://a.example"]}},
        {"benchmark": {"name": "real", "sites": {"omnizon": "https://a.example"}}},
        {"conditions": [{"name": "x", "defence": "refresh"}]},
        {"conditions": [{"name": "x", "defence": {"name": "mine", "text": "Reload."}}]},
        {"conditions": [{"name": "x", "scenario": "s.yaml", "intensity": 0.5, "frequency": 3}]},
        {"conditions": [{"name": "x", "control": True}]},
        {"budget": {"usd": 1.5, "tokens": 10, "minutes": 2}, "llm_cache": True},
        {"tasks": {"sample": 3}},
        {"traffic": {"maps": ["https://a.example=http://127.0.0.1:1"], "record": "concerned"}},
    ],
)
def test_what_is_loaded_fits_the_schema(more: dict[str, Any]) -> None:
    CampaignConfig.model_validate(SMALL | more)

    assert not list(Draft202012Validator(campaign_schema()).iter_errors(SMALL | more))


@pytest.mark.parametrize(
    "more",
    [
        {"nmae": "c"},
        {"budget": {"usd": 0}},
        {"conditions": [{"name": "x", "defence": "refesh"}]},
        {"conditions": [{"name": "x", "intensity": 0}]},
        {"repeats": 0},
        {"traffic": {"record": "some"}},
    ],
)
def test_what_is_refused_does_not_fit_it(more: dict[str, Any]) -> None:
    assert list(Draft202012Validator(campaign_schema()).iter_errors(SMALL | more))
