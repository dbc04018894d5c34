"""What an agent must withstand: run with pytest, WAREX's plugin comes with it."""

from pathlib import Path

import httpx
import pytest

from warex.pytest_plugin import Warex

HERE = Path(__file__).parent
SHOP = "http://shop.example"


@pytest.mark.warex("paper/server-error", sites=SHOP, maps={SHOP: "http://127.0.0.1:9"})
def test_a_page_of_the_shop_fails_once(warex: Warex) -> None:
    """A client of yours takes the place of the one call; the fault comes before the site."""
    page = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
    answer = httpx.get(f"{SHOP}/", proxy=warex.proxy.url, headers=page)
    assert answer.status_code == 500


def test_the_agent_recovers(warex: Warex) -> None:
    """The campaign beside this file, held against what it must reach."""
    run = warex.run(HERE / "campaign.toml", jobs=2)
    run.require("recovery>=0.9 and clean.success>=0.9")
