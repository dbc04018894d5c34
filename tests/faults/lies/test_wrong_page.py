from warex.effects import OtherPage
from warex.exchange import Exchange, Request
from warex.faults.lies.wrong_page import WrongPage
from warex.seeds import KeyedRng


def draw(path: str, seed: int = 1) -> float:
    asked = Exchange("1", Request("GET", f"https://shop.test{path}"))
    ((effect,), _) = WrongPage().effects(asked, {}, KeyedRng(seed, "r"))
    assert isinstance(effect, OtherPage)
    return effect.draw


def test_the_seed_chooses_the_page_for_each_address() -> None:
    assert draw("/a") == draw("/a")
    assert len({draw("/a"), draw("/b"), draw("/a", 2)}) == 3


def test_the_fault_is_about_pages() -> None:
    assert WrongPage.default_resource == ("document",)
