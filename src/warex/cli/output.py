"""The one way out to the terminal: nothing that is said is obeyed or read as markup."""

import sys
import textwrap
from collections.abc import Iterable
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from warex.text.escaping import escape_controls

if TYPE_CHECKING:
    from rich.console import Console


def echo(
    sentence: object = "",
    *,
    lead: str = "",
    colour: str | None = None,
    err: bool = False,
    end: str = "\n",
) -> None:
    """Print a text on standard output, or on standard error; ``lead`` stands first, coloured."""
    styled = click.style(escape_controls(lead), fg=colour) if lead else ""
    click.echo(f"{styled}{escape_controls(str(sentence))}{end}", err=err, nl=False)


def echo_columns(
    label: str, words: str, width: int, *, lead: str = "", colour: str | None = None
) -> None:
    """Print a label and, beside its column of ``width`` characters, words.

    A terminal has them folded between words; a pipe gets one line, for programs that read it.
    ``lead`` stands before the label, coloured.
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
    said = f"\n{' ' * indent}".join((f"{label:{width}} {first}", *rest))
    echo(said, lead=lead, colour=colour)


def console(*, stderr: bool = False) -> "Console":
    """Return a console for tables and progress; strings are printed as they stand."""
    # Loaded where something is drawn: most commands only say a line.
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class Shown(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            if isinstance(renderable, Text):
                # Before its lines are folded: what was obeyed has no width.
                renderable = renderable.copy()
                renderable.plain = escape_controls(renderable.plain)
            for segment in super().render(renderable, options):
                if segment.control or segment.text.isprintable():
                    yield segment
                else:
                    yield Segment(escape_controls(segment.text), segment.style)

    return Shown(stderr=stderr, markup=False, emoji=False)
