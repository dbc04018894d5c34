"""The JSON Schema of a scenario, for editors and for programs that write scenarios."""

from typing import Any, Final

from warex.scenarios.scenario import Scenario

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of what ``load_scenario`` takes."""
    schema = Scenario.model_json_schema(mode="validation")
    for definition in schema["$defs"].values():
        # In Python the fault's class implies its kind; a file needs the key.
        if "kind" in (keys := definition.get("properties", {})):
            keys["kind"].pop("default", None)
            definition["required"] = ["kind", *definition.get("required", ())]
    return {"$schema": _DIALECT, **schema, "title": "WAREX scenario"}
