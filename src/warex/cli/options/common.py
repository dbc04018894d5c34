"""Options that several commands share."""

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, Final

import click

PATH: Final = click.Path(path_type=Path)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def add_options[F: Callable[..., Any]](*options: Callable[..., Any]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)
