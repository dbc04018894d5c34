import pytest

from tests.mitmproxy_addon.shop import Shop

pytestmark = [pytest.mark.wire, pytest.mark.slow]


def test_a_write_is_lost_or_sent_twice(shop: Shop) -> None:
    lost = shop.client.post(f"{shop.url}/lost", json={"n": 1})
    again = shop.client.post(f"{shop.url}/again", json={"n": 2})

    assert lost.is_success
    assert again.is_success
    shop.delivered("lost")
    shop.delivered("again")
    targets = [it.target for it in shop.site.seen]
    assert ("/lost" not in targets, targets.count("/again")) == (True, 2)
    assert {it.body for it in shop.site.seen if it.target == "/again"} == {b'{"n":2}'}
