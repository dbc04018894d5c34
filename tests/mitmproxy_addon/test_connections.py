import httpx
import pytest

from tests.mitmproxy_addon.shop import Shop

pytestmark = [pytest.mark.wire, pytest.mark.slow]


@pytest.mark.parametrize("rule", ["expired", "tls-cut"])
def test_tls_fails(shop: Shop, rule: str) -> None:
    host = {"expired": "expired", "tls-cut": "cut"}[rule]
    with pytest.raises((httpx.ConnectError, httpx.ReadError), match=r"expired|EOF|reset|closed"):
        shop.client.get(f"https://{host}.example/")
    shop.delivered(rule)
