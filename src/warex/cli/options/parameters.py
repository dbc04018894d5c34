"""Parameter types, an option and a decorator that several commands share."""

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, Final

import click

PATH: Final = click.Path(path_type=Path)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class Parsed[T](click.ParamType[T]):
    """A text that a function parses; it raises ValueError with a sentence for an invalid one."""

    name = "text"

    def __init__(self, parse: Callable[[str], T]) -> None:
        self._parse = parse

    def convert(
        self, value: str | T, param: click.Parameter | None, ctx: click.Context | None
    ) -> T:
        """Return the parsed text; a value that is parsed already is returned as it is."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def add_options[F: Callable[..., Any]](*options: Callable[..., Any]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)
