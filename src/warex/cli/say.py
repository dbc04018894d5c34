"""The one way out to the terminal: nothing that is said is obeyed or read as markup."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from warex.visible import visible

if TYPE_CHECKING:
    from rich.console import Console


def say(
    sentence: object = "",
    *,
    lead: str = "",
    colour: str | None = None,
    err: bool = False,
    end: str = "\n",
) -> None:
    """Print a text on standard output, or on standard error; ``lead`` stands first, coloured."""
    styled = click.style(visible(lead), fg=colour) if lead else ""
    click.echo(f"{styled}{visible(str(sentence))}{end}", err=err, nl=False)


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
                renderable.plain = visible(renderable.plain)
            for segment in super().render(renderable, options):
                if segment.control or segment.text.isprintable():
                    yield segment
                else:
                    yield Segment(visible(segment.text), segment.style)

    return Shown(stderr=stderr, markup=False, emoji=False)
