import pytest
from pydantic import ValidationError

from tests.faults.browser.injected import script, settings
from warex.faults.browser.storage_failure import StorageFailure


def test_the_fault_is_active_before_the_pages_scripts() -> None:
    assert settings(StorageFailure())["isEarly"] is True


def test_all_storage_fails_unless_one_is_named() -> None:
    assert settings(StorageFailure())["areas"] == ["localStorage", "sessionStorage", "indexedDB"]
    assert settings(StorageFailure(area="session"))["areas"] == ["sessionStorage"]


def test_each_page_reports_at_an_address_of_its_own() -> None:
    assert script(StorageFailure()).report != script(StorageFailure(), pages=1).report


def test_the_explanation_names_the_error_of_the_page() -> None:
    assert StorageFailure().explain() == (
        "is handled by the site, and its page may not use its storage (SecurityError)"
    )
    assert StorageFailure(how="full", area="indexed_db").explain() == (
        "is handled by the site, and its page can put nothing more into its indexedDB"
        " (QuotaExceededError)"
    )


@pytest.mark.parametrize("fields", [{"how": "slow"}, {"area": "cookies"}, {"area": ""}])
def test_an_unknown_storage_or_failure_is_refused_by_name(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match=next(iter(fields))):
        StorageFailure.model_validate(fields)
