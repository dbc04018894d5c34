from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Rate
from warex.analysis.table.popups import PopupRates, popup_rates


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.manifest()
    return folder


def shares(folder: RunFolder) -> PopupRates:
    (rates,) = popup_rates(load_run(folder.path))
    return rates


def met(*reports: str) -> Story:
    return Story().thinks(1, "goto").popup(1, *reports)


def test_the_papers_table_counts_giving_up_before_and_after_a_click(folder: RunFolder) -> None:
    folder.trial("server-error", "add", failed(), met().stops())
    folder.trial("server-error", "move", failed(), met("followed", "visited").stops())
    folder.trial("server-error", "share", failed(), met("visited").stops())
    folder.trial("server-error", "find", solved(), met("dismissed").stops())

    rates = shares(folder)

    assert rates.infeasible_start == Rate(1, 4)
    assert rates.infeasible_later == Rate(2, 4)
    assert rates.followed == Rate(2, 4)
    assert rates.closed == Rate(1, 4)
    assert rates.success == Rate(1, 4)
    assert rates.recovery == Rate(1, 4)


def test_what_is_typed_counts_at_the_site_and_not_in_the_dialog(folder: RunFolder) -> None:
    existing = met("followed").reports(1, "typed", detail="name: Ada")
    folder.trial("server-error", "add", solved(), existing.stops())
    folder.trial("server-error", "move", solved(), met("typed", "accepted").stops())

    assert shares(folder).typed == Rate(1, 2)


def test_trials_in_which_no_popup_was_shown_are_left_out(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(), Story().page("x1").stops())
    folder.trial("server-error", "add", failed(), Story().fault(1).stops())
    folder.trial("server-error", "move", solved(), met("dismissed").stops())

    assert shares(folder).success == Rate(1, 1)
