"""The options about traffic that every command with a proxy has."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import click

from warex.cli import completion


class Origin(click.ParamType[str]):
    """An origin as browsers write it: scheme, host and perhaps a port."""

    name = "origin"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the origin without a slash at its end; fail for anything else."""
        try:
            parts = urlsplit(value)
            good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            good = False
        if not good or parts.path.strip("/") or parts.query or parts.fragment:
            self.fail(
                f"{value!r} is no origin; write for instance https://shop.example", param, ctx
            )
        return f"{parts.scheme}://{parts.netloc}"


# Letters, digits, hyphens and underscores between dots, or an IPv6 address.
_HOST = re.compile(r"(\*\.)?[\w-]+(\.[\w-]+)*\.?|\[?[0-9a-fA-F]*:[0-9a-fA-F:.]+\]?")


class Host(click.ParamType[str]):
    """A host's name, or `*.example` for all below it."""

    name = "host"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the host in lower case; fail for anything else."""
        good = _HOST.fullmatch(value) is not None
        if not good:
            self.fail(f"{value!r} is no host; write shop.example or *.example", param, ctx)
        return value.lower()


site_option = click.option(
    "--site",
    "sites",
    multiple=True,
    type=Origin(),
    metavar="ORIGIN",
    help="A task site, for {sites}; left out, everything outside `never`.",
)

vocabulary_option = click.option(
    "--vocabulary",
    metavar="V",
    help="The agent's actions: a benchmark's name, or a file of lists. Left out, told by name.",
    shell_complete=completion.VOCABULARY,
)

defence_option = click.option(
    "--defence",
    metavar="D",
    help="Add this to the system prompt of LLM requests: a name of `warex defences`, or a file.",
    shell_complete=completion.DEFENCE,
)

tasks_option = click.option(
    "--tasks",
    "tasks",
    metavar="RULE",
    help="Tell tasks apart by their traffic: a harness, conversation, text:REGEX or url:REGEX.",
    shell_complete=completion.TASKS,
)

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
        type=Host(),
        metavar="HOST",
        help="Never read this host's traffic; *.example is allowed.",
    ),
    click.option(
        "--llm-host",
        "llm_hosts",
        multiple=True,
        type=Host(),
        metavar="HOST",
        help="A host that serves a model, also read under --record concerned.",
    ),
    click.option(
        "--arm",
        type=click.Choice(["start", "first_page", "first_llm_call"]),
        help="When injection starts; default: as the scenario says.",
    ),
)


def traffic_options[F: Callable[..., Any]](command: F) -> F:
    """Add the options about traffic to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
