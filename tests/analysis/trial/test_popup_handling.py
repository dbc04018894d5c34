from pathlib import Path

import pytest

from tests.analysis.builders import Story
from warex.analysis.trial.popup_handling import PopupHandling, popup_handling
from warex.traces.reader import read_trace


def of(story: Story, folder: Path) -> PopupHandling | None:
    return popup_handling(read_trace(story.write(folder / "events.jsonl")).entries)


@pytest.mark.parametrize(
    ("reports", "popup_handling"),
    [
        ((), PopupHandling(closed=False, followed=False, typed=False)),
        (("dismissed",), PopupHandling(closed=True, followed=False, typed=False)),
        (("accepted",), PopupHandling(closed=True, followed=False, typed=False)),
        (("followed",), PopupHandling(closed=False, followed=True, typed=False)),
        (("visited",), PopupHandling(closed=False, followed=True, typed=False)),
        (("typed",), PopupHandling(closed=False, followed=False, typed=False)),
    ],
)
def test_what_was_done_is_reported_by_the_reports(
    reports: tuple[str, ...], popup_handling: PopupHandling, tmp_path: Path
) -> None:
    assert of(Story().popup(1, *reports), tmp_path) == popup_handling


def test_what_is_typed_at_the_site_has_a_field(tmp_path: Path) -> None:
    story = Story().popup(1, "followed").reports(1, "typed", detail="name: Ada")

    popup_handling = of(story, tmp_path)

    assert popup_handling is not None
    assert popup_handling.typed


def test_a_trial_without_a_popup_has_no_popup_handling(tmp_path: Path) -> None:
    assert of(Story().fault(1), tmp_path) is None
