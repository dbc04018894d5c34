"""A trial's timeline, line by line."""

from io import StringIO

from rich.console import Console

from warex.analysis.inspection.timeline import TimelineEntry
from warex.report.terminal.timeline import Timeline


def _shown(*moments: TimelineEntry, width: int = 60, terminal: bool = False) -> str:
    out = StringIO()
    Console(file=out, width=width, force_terminal=terminal).print(Timeline(moments))
    return out.getvalue()


def test_columns_are_as_wide_as_their_content() -> None:
    shown = _shown(
        TimelineEntry(1, 0.0, "armed", "by start"),
        TimelineEntry(12, 3.25, "canary", "came through"),
    )

    assert shown.splitlines() == [
        " [1]  0.00 s  armed   by start",
        "[12]  3.25 s  canary  came through",
    ]


def test_long_words_are_folded_and_nothing_is_lost() -> None:
    words = "GET https://shop.example/" + "a" * 90 + " answered 日本語 with 500"
    shown = _shown(TimelineEntry(1, 0.0, "exchange", words))

    lines = shown.splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) <= 60
    assert "".join(line[22:] for line in lines).replace(" ", "") == words.replace(" ", "")


def test_what_a_terminal_would_obey_is_shown() -> None:
    moment = TimelineEntry(1, 0.0, "exchange", "a\x1b[31m [bold]x[/]\nb")

    assert "a␛[31m [bold]x[/]\n" in _shown(moment)
    assert "a␛[31m [bold]x[/]" in _shown(moment, terminal=True)


def test_no_moments_are_no_lines() -> None:
    assert _shown().strip() == ""
