"""The JSON Schema of a campaign, for editors and generators."""

from typing import Any, Final

from warex.campaigns.config.campaign import CampaignConfig

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def campaign_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of what ``load_campaign`` takes."""
    schema = CampaignConfig.model_json_schema(mode="validation")
    table = schema["$defs"]["BenchmarkConfig"]["properties"]
    # Sites may also be a list of origins, and a benchmark its name alone.
    described = {"description": table["sites"].pop("description")}
    origins = {"type": "array", "items": {"$ref": "#/$defs/Text"}}
    table["sites"] = {"anyOf": [table["sites"], origins], **described}
    named = schema["properties"]["benchmark"]
    definition = {"$ref": named.pop("$ref")}
    schema["properties"]["benchmark"] = {"anyOf": [{"$ref": "#/$defs/Text"}, definition], **named}
    return {"$schema": _DIALECT, **schema, "title": "WAREX campaign"}
