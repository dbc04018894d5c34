"""Displays the steps of a long task."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from warex.cli.output import console


@contextmanager
def spinner(what: str) -> Iterator[Callable[[str], None]]:
    """Show a clock and the current step; yield the function that sets the step."""
    screen = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task(what)

        def report(step: str) -> None:
            progress.update(task, description=f"{what}: {step}")
            if not screen.is_terminal:
                screen.print(f"{what}: {step}", highlight=False, soft_wrap=True)

        yield report
