"""Terminal output with control characters escaped and markup disabled."""

import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Final

import click

from warex.text.escaping import escape_controls

if TYPE_CHECKING:
    from rich.console import Console


_WIDTH: Final = 90
"""Most characters of a description in a list."""


def echo(
    sentence: object = "",
    *,
    lead: str = "",
    colour: str | None = None,
    err: bool = False,
    end: str = "\n",
) -> None:
    """Print a text, after a coloured ``lead``, to standard output or standard error."""
    styled = click.style(escape_controls(lead), fg=colour) if lead else ""
    click.echo(f"{styled}{escape_controls(str(sentence))}{end}", err=err, nl=False)


def warn(sentence: object) -> None:
    """Print a message on standard error."""
    echo(f"warex: {sentence}", err=True)


def echo_json(data: object) -> None:
    """Print data as indented JSON."""
    import json

    echo(json.dumps(data, indent=2))


def echo_columns(
    label: str, words: str, width: int, *, lead: str = "", colour: str | None = None
) -> None:
    """Print a coloured ``lead``, a label in ``width`` columns, and words.

    Words are wrapped on a terminal, and one line in a pipe.
    """
    indent = len(lead) + width + 1
    if not sys.stdout.isatty():
        echo(f"{label:{width}} {words}", lead=lead, colour=colour)
        return
    room = max(40, get_terminal_size().columns - indent)
    folded = textwrap.wrap(
        escape_controls(words), room, break_long_words=False, break_on_hyphens=False
    )
    first, *rest = folded or [""]
    text = f"\n{' ' * indent}".join((f"{label:{width}} {first}", *rest))
    echo(text, lead=lead, colour=colour)


def first_line(description: str) -> str:
    """Return the first sentence of a description, cut to what a line of a list holds."""
    sentence = re.split(r"(?<=[.:])\s|; ", description, maxsplit=1)[0].rstrip(".:")
    return textwrap.shorten(sentence, _WIDTH, placeholder=" …")


def echo_rows(rows: Sequence[Mapping[str, object]], width: int, *, as_json: bool) -> None:
    """Print rows as JSON, or the first two values of each as ``echo_columns`` does."""
    if as_json:
        echo_json(rows)
        return
    for row in rows:
        label, words, *_ = map(str, row.values())
        echo_columns(label, words, width)


def console(*, stderr: bool = False) -> "Console":
    """Return a console for tables and progress, without markup."""
    # Imported here: most commands only print lines.
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class Shown(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            if isinstance(renderable, Text):
                # Before wrapping: control characters have no width.
                renderable = renderable.copy()
                renderable.plain = escape_controls(renderable.plain)
            for segment in super().render(renderable, options):
                if segment.control or segment.text.isprintable():
                    yield segment
                else:
                    yield Segment(escape_controls(segment.text), segment.style)

    return Shown(stderr=stderr, markup=False, emoji=False)
