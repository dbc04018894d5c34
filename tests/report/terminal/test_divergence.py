from io import StringIO

from rich.console import Console

from tests.analysis.builders import Story
from warex.analysis.steps.divergence import diverge
from warex.analysis.steps.path import TrialPath, trial_path
from warex.report.terminal.divergence import render_divergence


def path(story: Story) -> TrialPath:
    return trial_path(story.entries())


def test_equal_steps_are_side_by_side_and_different_ones_marked() -> None:
    clean = Story().thinks(1, "goto").thinks(2, "click").thinks(3, "fill")
    faulted = Story().thinks(1, "goto").thinks(2, "reload").thinks(3, "click").thinks(4, "fill")
    console = Console(width=60, record=True, file=StringIO())

    divergence = diverge(path(clean), path(faulted))
    console.print(render_divergence(divergence, ("clean", "errors"), ("success", "failure")))

    lines = console.export_text().splitlines()
    table = [" ".join(line.split()) for line in lines[lines.index("") :]]
    assert table[-4:] == [
        "1 goto() 1 goto()",
        "≠ 2 reload()",
        "2 click() 3 click()",
        "3 fill() 4 fill()",
    ]
