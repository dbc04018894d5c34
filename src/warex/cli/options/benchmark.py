"""A benchmark's own options, as `--option KEY=VALUE`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warex.cli.options.parameters import PATH
from warex.errors import InputError

if TYPE_CHECKING:
    from warex.benchmarks import BenchmarkConfig

dir_option = click.option(
    "--dir", "folder", type=PATH, help="Folder of the benchmark's environment."
)
benchmark_option = click.option(
    "--option",
    "options",
    metavar="KEY=VALUE",
    multiple=True,
    help="An option of the benchmark, for example checkout=DIR.",
)


def benchmark_table(name: str, folder: Path | None, options: tuple[str, ...]) -> "BenchmarkConfig":
    """Return a campaign's benchmark table. Raises InputError for an invalid option."""
    from warex.benchmarks import BenchmarkConfig

    place = None if folder is None else str(folder.absolute())
    return BenchmarkConfig(name=name, dir=place, options=parse_options(options))


def parse_options(options: tuple[str, ...]) -> dict[str, Any]:
    """Return options by key, JSON values decoded. Raises InputError for one without ``=``."""
    parsed = {}
    for option in options:
        key, mark, value = option.partition("=")
        if not (key and mark):
            raise InputError(
                f"--option {option!r} is not a KEY=VALUE; write for instance checkout=DIR"
            )
        try:
            parsed[key] = json.loads(value)
        except ValueError:
            parsed[key] = value
    return parsed
