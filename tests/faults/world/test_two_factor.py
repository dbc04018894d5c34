import re

import pytest

from warex.effects import Reply, WallExit
from warex.exchange import Exchange, Request, SiteLook
from warex.faults import FaultState
from warex.faults.pages.wording import languages
from warex.faults.world.two_factor import TwoFactor, Way
from warex.seeds import KeyedRng


def page(at: float = 5.0, **look: str) -> Exchange:
    request = Request("GET", "https://bank.test/accounts?a=1")
    return Exchange("1", request, at=at, look=SiteLook(**look))


def met(
    fault: TwoFactor, exchange: Exchange, state: FaultState | None = None, seed: int = 1
) -> tuple[str, WallExit, FaultState]:
    (reply,), state = fault.effects(exchange, state or {}, KeyedRng(seed, "rule"))
    assert isinstance(reply, Reply)
    assert reply.wall_exit is not None
    return reply.body.decode(), reply.wall_exit, state


def test_the_code_is_only_on_the_page_of_messages() -> None:
    text, way_out, _ = met(TwoFactor(), page())
    messages = way_out.pages["messages"].decode()

    assert re.fullmatch(r"[1-9][0-9]{5}", way_out.code)
    assert way_out.code in messages
    assert way_out.code not in text
    assert f'href="{way_out.path}/messages"' in text
    assert 'href="/accounts?a=1"' in messages
    assert way_out.code not in way_out.refusal.decode()


def test_a_banner_shows_the_code_on_the_page_itself() -> None:
    text, way_out, _ = met(TwoFactor(way="banner"), page())

    assert way_out.code in text
    assert not way_out.pages


def test_no_code_is_right_where_only_another_method_works() -> None:
    text, way_out, _ = met(TwoFactor(way="other"), page())
    other = way_out.pages["other"].decode()

    assert len(way_out.code) > 12
    assert 'maxlength="12"' in text
    assert way_out.code not in text
    assert f'name="code" value="{way_out.code}"' in other


@pytest.mark.parametrize("way", ["messages", "banner", "wait", "other"])
def test_what_is_refused_says_so_and_asks_again(way: Way) -> None:
    text, way_out, _ = met(TwoFactor(way=way), page())
    refused = way_out.refusal.decode()

    assert 'role="alert"' in refused
    assert 'role="alert"' not in text
    assert f'action="{way_out.path}"' in refused
    assert "$" not in refused


def test_each_seed_has_a_code_of_its_own_and_a_trial_one() -> None:
    codes = [met(TwoFactor(), page(), seed=seed)[1].code for seed in range(5)]
    _, first, state = met(TwoFactor(), page())

    assert len(set(codes)) == 5
    assert met(TwoFactor(), page(), state)[1].code == first.code


def test_waiting_long_enough_passes() -> None:
    fault = TwoFactor(way="wait", wait=10)
    _, first, state = met(fault, page(at=5))
    _, second, state = met(fault, page(at=9), state)

    assert (first.opens_at, second.opens_at, second.code) == (15, 15, "")
    assert fault.still_applies(page(at=14), state)
    assert not fault.spares(page(at=14), state)
    assert not fault.still_applies(page(at=15), state)
    assert fault.spares(page(at=15), state)


def test_always_asks_for_another_confirmation() -> None:
    fault = TwoFactor(way="wait", wait=10, always=True)
    _, _, state = met(fault, page(at=5))

    assert not fault.spares(page(at=20), state)
    assert met(fault, page(at=20), state)[1].opens_at == 30


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("way", ["messages", "wait", "other"])
def test_all_of_it_speaks_the_language_of_the_site(language: str, way: Way) -> None:
    text, way_out, _ = met(TwoFactor(way=way), page(language=language))

    for shown in (text, way_out.refusal.decode(), *(it.decode() for it in way_out.pages.values())):
        assert f'<html lang="{language}"' in shown
        assert "{code}" not in shown
