import pytest
from pydantic import ValidationError

from tests.faults.browser.injected import settings
from warex.faults.browser.native_dialog import NativeDialog
from warex.faults.pages.wording import languages


def test_dialogs_have_every_language_and_ask_before_a_form_is_sent() -> None:
    asked = settings(NativeDialog(dialog="confirm"))["words"]
    sure = settings(NativeDialog(dialog="confirm", when="submit"))["words"]

    assert set(asked) == set(sure) == set(languages())
    assert all(it["text"].strip() for it in (*asked.values(), *sure.values()))
    assert asked["en"] != sure["en"]


def test_a_page_is_asked_about_when_it_is_left() -> None:
    fields = settings(NativeDialog(dialog="beforeunload", after=1.5))

    assert (fields["when"], fields["wait"]) == ("leave", 1500)


def test_the_explanation_has_the_faults_values() -> None:
    assert NativeDialog().explain() == (
        "is handled by the site, and opens a dialog of the browser (alert) on its page's load"
    )
    assert NativeDialog(dialog="prompt", after=2).outcome().endswith("2 s after its page's load")
    assert NativeDialog(when="submit").outcome().endswith("when a form of its page is sent")
    assert NativeDialog(dialog="beforeunload").outcome() == (
        "asks whether to leave its page, when it is left (beforeunload)"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"dialog": "modal"},
        {"when": "leave"},
        {"after": -1},
        {"when": "submit", "dialog": "beforeunload"},
        {"after": 2, "when": "submit"},
    ],
)
def test_what_is_not_a_dialog_is_refused_by_name(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(fields))):
        NativeDialog.model_validate(fields)
