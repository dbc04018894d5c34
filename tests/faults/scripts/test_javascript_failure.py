import pytest
from pydantic import ValidationError

from warex.effects import Delay, Reply, Truncate
from warex.exchange import Exchange, Request
from warex.faults.scripts.javascript_failure import JavascriptFailure
from warex.seeds import KeyedRng

SCRIPT = Exchange("1", Request("GET", "https://shop.test/app.js", {"sec-fetch-dest": "script"}))
LUCK = KeyedRng(1, "scripts")


def test_the_fault_is_about_scripts_by_default() -> None:
    assert JavascriptFailure.default_resource == ("script",)


def test_the_fault_may_be_limited_to_third_party_scripts() -> None:
    assert JavascriptFailure(third_party=True).third_party_only
    assert not JavascriptFailure().third_party_only


def test_a_script_is_held_for_ten_seconds_and_answered_504() -> None:
    (wait, reply), _ = JavascriptFailure().effects(SCRIPT, {}, LUCK)

    assert wait == Delay(10.0)
    assert isinstance(reply, Reply)
    assert reply.status == 504


@pytest.mark.parametrize("seed", range(30))
def test_what_comes_instead_is_never_a_script_nor_cached(seed: int) -> None:
    effects, _ = JavascriptFailure().effects(SCRIPT, {}, KeyedRng(seed, "r"))

    reply = effects[-1]
    assert isinstance(reply, Reply)
    assert reply.headers["content-type"].startswith(("text/html", "text/plain"))
    assert reply.headers["cache-control"] == "no-store"
    assert reply.status == 504
    assert reply.page


def test_a_late_script_is_only_late() -> None:
    effects, _ = JavascriptFailure(mode="delay", delay=3).effects(SCRIPT, {}, LUCK)

    assert effects == (Delay(3.0),)


def test_being_late_by_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="delay 0 does nothing"):
        JavascriptFailure(mode="delay", delay=0)


def test_an_unknown_mode_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="mode"):
        JavascriptFailure.model_validate({"mode": "break"})


def test_the_explanation_has_the_faults_values() -> None:
    assert JavascriptFailure().explain() == (
        "is held for 10 s and then answered 504 with a gateway's error page in its place"
    )
    assert JavascriptFailure(mode="delay", delay=2).explain() == (
        "is held for 2 s and then let through late"
    )


def test_a_script_that_throws_comes_in_its_place() -> None:
    effects, _ = JavascriptFailure(mode="throw", delay=0).effects(SCRIPT, {}, LUCK)

    (reply,) = effects
    assert isinstance(reply, Reply)
    assert (reply.status, reply.headers["content-type"]) == (200, "text/javascript")
    assert reply.body.startswith(b"throw new ")


def test_the_first_half_of_a_script_comes() -> None:
    fault = JavascriptFailure(mode="truncate", delay=0, stage="response")

    assert fault.effects(SCRIPT, {}, LUCK)[0] == (Truncate(0.5, "clean"),)


def test_a_script_that_has_not_come_cannot_be_cut() -> None:
    with pytest.raises(ValidationError, match="give stage: response"):
        JavascriptFailure(mode="truncate")
