"""Steps of a long work, shown as they are done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


@contextmanager
def steps(what: str) -> Iterator[Callable[[str], None]]:
    """Show a clock and the step that is being done; yield what tells the next step."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what)

        def report(step: str) -> None:
            progress.update(task, description=f"{what}: {step}")
            if not console.is_terminal:
                console.print(f"{what}: {step}", highlight=False, soft_wrap=True)

        yield report
