import pytest

from warex.campaigns.config.customization import Overrides
from warex.cli.options.campaign import campaign_changes
from warex.errors import InputError

NOTHING = {
    **{"agents": (), "base_url": None, "folder": None, "options": (), "sites": ()},
    **{"only_sites": (), "without_sites": ()},
}


def changed(**options: object) -> Overrides:
    return campaign_changes(None, **{**NOTHING, **options})  # type: ignore[arg-type] # as click gives them


def test_no_option_changes_nothing() -> None:
    assert changed() == Overrides()
    assert not changed().any


def test_a_site_is_a_name_and_where_it_is_served_or_an_origin_as_it_is() -> None:
    sites = ("gitlab=http://h:8023", "https://a.example=http://127.0.0.1:1", "https://b.example")

    assert changed(sites=sites).sites == {
        "gitlab": "http://h:8023",
        "https://a.example": "http://127.0.0.1:1",
        "https://b.example": "https://b.example",
    }


def test_an_option_may_be_json_and_is_never_half_a_one() -> None:
    assert changed(options=("tasks=[1]", "checkout=DIR")).options == {
        "tasks": [1],
        "checkout": "DIR",
    }
    with pytest.raises(InputError, match="not a KEY=VALUE"):
        changed(options=("checkout",))
