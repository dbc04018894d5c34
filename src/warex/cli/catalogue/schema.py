"""`warex schema`: JSON Schemas of the files that people write."""

import click

from warex.cli.output import echo_json


@click.command("schema")
@click.argument("name", type=click.Choice(["scenario", "campaign"]))
def command(name: str) -> None:
    """Print the JSON Schema of a scenario or a campaign."""
    from warex.campaigns.config.json_schema import campaign_schema
    from warex.scenarios.schema import scenario_schema

    schema = scenario_schema() if name == "scenario" else campaign_schema()
    echo_json(schema)
