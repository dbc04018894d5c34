"""Options of `warex init --from` and `warex run` that change a built-in campaign."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warex.cli import completion
from warex.cli.options.benchmark import benchmark_option, dir_option, parse_options
from warex.cli.options.parameters import add_options

if TYPE_CHECKING:
    from warex.campaigns.config.customization import Overrides

campaign_options = add_options(
    click.option(
        "--benchmark",
        metavar="NAME",
        help="Use this benchmark. [default: the campaign's, or the testbed]",
        shell_complete=completion.BENCHMARK,
    ),
    click.option(
        "--agent",
        "agents",
        multiple=True,
        metavar="[NAME=]MODEL",
        help="Use an agent with this model instead; for the benchmark `command`, its command line.",
    ),
    click.option("--base-url", metavar="URL", help="URL of the models' API."),
    dir_option,
    benchmark_option,
    click.option(
        "--site", "sites", multiple=True, metavar="NAME=URL", help="URL of a site of the benchmark."
    ),
    click.option(
        "--only-site",
        "only_sites",
        multiple=True,
        metavar="NAME",
        help="Only tasks on these sites.",
    ),
    click.option(
        "--without-site",
        "without_sites",
        multiple=True,
        metavar="NAME",
        help="No tasks on this site.",
    ),
)


def campaign_changes(
    benchmark: str | None,
    *,
    agents: tuple[str, ...],
    base_url: str | None,
    folder: Path | None,
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
        dir=None if folder is None else str(folder),
        sites={name: url if mark else name for name, mark, url in pairs},
        options=parse_options(options),
        agents=agents,
        base_url=base_url,
        only_sites=only_sites,
        without_sites=without_sites,
    )
