"""The options about traffic that every command with a proxy has."""

from collections.abc import Callable
from typing import Any

import click

_OPTIONS = (
    click.option(
        "--map",
        "maps",
        multiple=True,
        metavar="ORIGIN=TARGET",
        help="Serve an origin from elsewhere, as https://shop.example=http://127.0.0.1:8001.",
    ),
    click.option("--upstream", metavar="URL", help="Go through another proxy: http://host:port."),
    click.option("--insecure", is_flag=True, help="Accept any certificate of the sites."),
    click.option(
        "--record",
        type=click.Choice(["all", "concerned"]),
        default="all",
        show_default=True,
        help="Read all traffic, or only what a rule or a model endpoint needs.",
    ),
    click.option(
        "--pass-through",
        "pass_through",
        multiple=True,
        metavar="HOST",
        help="Never read this host's traffic; *.example is allowed.",
    ),
)


def traffic_options[F: Callable[..., Any]](command: F) -> F:
    """Add the options about traffic to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
