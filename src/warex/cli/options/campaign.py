"""Options of `warex init --from` and `warex run` that change a built-in campaign."""

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warex.cli.options.benchmark import benchmark_option, parse_options

if TYPE_CHECKING:
    from warex.campaigns.config.customization import Overrides

_OPTIONS = (
    click.option(
        "--agent",
        "agents",
        multiple=True,
        metavar="[NAME=]MODEL",
        help="In a built-in campaign: an agent with this model, in place of its own; of the"
        " benchmark `command`, the agent's command line.",
    ),
    click.option("--base-url", metavar="URL", help="URL of these models' API."),
    click.option(
        "--dir",
        "home",
        type=click.Path(path_type=Path),
        help="Folder of the benchmark's environment.",
    ),
    benchmark_option,
    click.option(
        "--site",
        "sites",
        multiple=True,
        metavar="NAME=URL",
        help="Where one of the benchmark's sites is served.",
    ),
    click.option(
        "--only-site",
        "only_sites",
        multiple=True,
        metavar="NAME",
        help="Only tasks that need no other site.",
    ),
    click.option(
        "--without-site",
        "without_sites",
        multiple=True,
        metavar="NAME",
        help="No task that needs this site.",
    ),
)


def campaign_options[F: Callable[..., Any]](command: F) -> F:
    """Add the options to a command; ``campaign_changes`` reads them."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)


def campaign_changes(
    benchmark: str | None,
    *,
    agents: tuple[str, ...],
    base_url: str | None,
    home: Path | None,
    options: tuple[str, ...],
    sites: tuple[str, ...],
    only_sites: tuple[str, ...],
    without_sites: tuple[str, ...],
) -> "Overrides":
    """Return the changes of the options. Raises InputError for an invalid one."""
    from warex.campaigns.config.customization import Overrides

    pairs = (site.partition("=") for site in sites)
    return Overrides(
        benchmark=benchmark,
        # As it was typed, because it is written into a file.
        dir=None if home is None else str(home),
        sites={name: url if mark else name for name, mark, url in pairs},
        options=parse_options(options),
        agents=agents,
        base_url=base_url,
        only_sites=only_sites,
        without_sites=without_sites,
    )
