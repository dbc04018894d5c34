import pytest
from pydantic import ValidationError

from tests.faults.browser.injected import settings
from warex.faults.browser.popup_blocked import PopupBlocked


def test_the_fault_is_active_before_the_pages_scripts() -> None:
    assert settings(PopupBlocked())["isEarly"] is True


def test_links_open_windows_unless_they_are_blocked_too() -> None:
    assert settings(PopupBlocked())["links"] is False
    assert settings(PopupBlocked(links=True))["links"] is True


def test_the_explanation_describes_the_fault() -> None:
    assert PopupBlocked().explain() == (
        "is handled by the site, and its page can open no window by script"
    )
    assert PopupBlocked(links=True).explain().endswith("by script, nor by a link")


@pytest.mark.parametrize("links", ["yes", 1, None])
def test_what_is_not_yes_or_no_is_refused_by_name(links: object) -> None:
    with pytest.raises(ValidationError, match="links"):
        PopupBlocked.model_validate({"links": links})
