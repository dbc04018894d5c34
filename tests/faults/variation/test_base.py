import re

import pytest
from pydantic import ValidationError

from tests.faults.variation.injected import script
from warex.faults import CATALOGUE
from warex.faults.variation.base import VariationFault

VARIATIONS = [fault for fault in CATALOGUE if issubclass(fault, VariationFault)]
each = pytest.mark.parametrize("fault", VARIATIONS, ids=lambda fault: fault.__name__)


def without_report(fault: VariationFault, seed: int, page: int) -> str:
    return re.sub(r'"report":"/\w{16}"', "", script(fault, seed, page).script)


@each
def test_a_variation_is_constant_in_a_trial_and_differs_by_seed(
    fault: type[VariationFault],
) -> None:
    one = fault()

    assert without_report(one, 3, 0) == without_report(one, 3, 1)
    assert script(one, 3, 0).report != script(one, 3, 1).report
    assert without_report(one, 3, 0) != without_report(one, 4, 0)


@each
def test_a_changed_site_is_a_variation_and_is_about_pages(fault: type[VariationFault]) -> None:
    assert fault.category == "variation"
    assert fault.default_resource == ("document",)
    assert fault.sizes == ("strength",)


@each
def test_inserted_markup_is_closed_and_does_not_name_warex(
    fault: type[VariationFault],
) -> None:
    instance = script(fault.model_validate({"strength": 1})).script

    assert instance.isascii()
    assert not any(it in instance for it in ("</script", "<!--", "]]>"))
    text = instance.lower().replace("preventdefault", "")
    assert not any(it in text for it in ("warex", "fault", "inject", "variation", "://"))


@each
@pytest.mark.parametrize("strength", [-0.1, 1.1, float("nan"), True, "0.5", None])
def test_a_strength_that_is_not_a_share_is_refused_by_name(
    fault: type[VariationFault], strength: object
) -> None:
    with pytest.raises(ValidationError, match="strength"):
        fault.model_validate({"strength": strength})


@each
def test_the_explanation_names_the_strength(fault: type[VariationFault]) -> None:
    words = fault.model_validate({"strength": 0.25}).explain()

    assert words.startswith("is handled by the site, and its page ")
    assert "strength 0.25" in words
