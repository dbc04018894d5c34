"""Tests of an agent under faults; run them with pytest, which loads WAREX's plugin."""

from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from warex.pytest_plugin import Warex

HERE = Path(__file__).parent
SHOP = "http://shop.example"


@pytest.mark.warex("paper/server-error", sites=SHOP, maps={SHOP: "http://127.0.0.1:9"})
def test_a_page_of_the_shop_fails_once(warex: Warex) -> None:
    """Replace this call with your client; the fault answers instead of the site."""
    page = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
    client = build_opener(ProxyHandler({"http": warex.proxy.url}))
    with pytest.raises(HTTPError, match="500"):
        client.open(Request(f"{SHOP}/", headers=page))


def test_the_agent_recovers(warex: Warex) -> None:
    """Run the campaign next to this file and check its thresholds."""
    run = warex.run(HERE / "campaign.toml", jobs=2)
    run.require("recovery>=0.9 and clean.success>=0.9")
