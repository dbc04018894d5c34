"""The published JSON Schema is the model's."""

import json
from pathlib import Path

from warex.scenarios.schema import scenario_schema

PUBLISHED = Path(__file__).parents[2] / "docs" / "reference" / "scenario.schema.json"


def test_the_published_schema_is_current() -> None:
    # To renew it: warex schema scenario > docs/reference/scenario.schema.json
    assert json.loads(PUBLISHED.read_text()) == scenario_schema()


def test_the_schema_names_its_dialect_and_refuses_unknown_keys() -> None:
    schema = scenario_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == "WAREX scenario"
    assert schema["additionalProperties"] is False
    assert all(
        d["additionalProperties"] is False for d in schema["$defs"].values() if "properties" in d
    )


def test_one_value_is_a_list_of_one() -> None:
    definitions = scenario_schema()["$defs"]
    one_or_more = definitions["OneOrMore_str_"]
    assert {"type": "string"} in one_or_more["anyOf"]
    assert {"type": "array", "items": {"type": "string"}, "minItems": 1} in one_or_more["anyOf"]


def test_every_key_of_match_and_scenario_is_described() -> None:
    definitions = scenario_schema()["$defs"]
    for name in ("Match", "Trigger"):
        assert all("description" in key for key in definitions[name]["properties"].values())


def test_a_fault_without_a_kind_is_refused_by_the_schema_too() -> None:
    definitions = scenario_schema()["$defs"]
    branches = definitions["AnyFault"]["oneOf"]
    names = [branch["$ref"].rpartition("/")[2] for branch in branches]
    assert all("kind" in definitions[name]["required"] for name in names)
