"""Parameter types, an option and a decorator that several commands share."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Final

import click

PATH: Final = click.Path(path_type=Path)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print only errors, and JSON where it is asked for."
)


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command prints: its results in words or as JSON, or neither."""

    quiet: bool = False
    as_json: bool = False

    @property
    def in_words(self) -> bool:
        """Whether the results are printed for a person."""
        return not (self.quiet or self.as_json)


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
