import re

from warex.exchange import SiteLook
from warex.faults.pages import Incident, site_page
from warex.seeds import KeyedRng


def page(look: SiteLook, seed: int = 1) -> str:
    incident = Incident(503, "shop.test", "/a", KeyedRng(seed, "r"), look)
    return site_page(
        incident, "Title", "p{color:$accent}", "<p>$word</p>", word="<b>"
    ).body.decode()


def test_a_site_without_pages_gets_a_neutral_look_by_seed() -> None:
    looks = {re.findall(r"body\{.*\}", page(SiteLook(), seed))[0] for seed in range(20)}

    assert len(looks) > 1
    assert "<span>shop.test</span>" in page(SiteLook())
    assert "<img" not in page(SiteLook())


def test_unknown_parts_of_a_known_look_do_not_come_from_the_seed() -> None:
    look = SiteLook(name="Kiosk", ground="#ffffff", ink="#111111")

    assert page(look, 1) == page(look, 2)
    assert "<title>Title \u2013 Kiosk</title>" in page(look)


def test_words_of_the_site_become_no_markup() -> None:
    value = page(SiteLook(name="<script>", logo="https://shop.test/a?b&c", ground="#fff000"))

    assert "<script>" not in value
    assert "<p>&lt;b&gt;</p>" in value
    assert 'src="https://shop.test/a?b&amp;c"' in value
