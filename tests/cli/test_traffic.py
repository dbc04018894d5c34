import click
import pytest

from tests.cli.conftest import Warex
from warex.campaigns.options import Options
from warex.cli import progress
from warex.cli.traffic import Origin


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://shop.example", "https://shop.example"),
        ("https://shop.example/", "https://shop.example"),
        ("http://127.0.0.1:8001", "http://127.0.0.1:8001"),
        ("http://[::1]:80/", "http://[::1]:80"),
    ],
)
def test_an_origin_is_scheme_host_and_port(given: str, origin: str) -> None:
    assert Origin().convert(given, None, None) == origin


@pytest.mark.parametrize(
    "given",
    ["", "shop", "ftp://shop.example", "https://", "https://a.b/c", "https://a.b?c", "http://a:x"],
)
def test_anything_else_is_none(given: str) -> None:
    with pytest.raises(click.BadParameter, match=r"write for instance https://shop\.example"):
        Origin().convert(given, None, None)


@pytest.mark.parametrize("value", ["https://x/", "x/y", "a b", "", "*.", "x:80"])
def test_a_host_is_a_name_and_nothing_else(warex: Warex, value: str) -> None:
    for option in ("--pass-through", "--llm-host"):
        done = warex("proxy", option, value)

        assert done.code == 2
        assert "write shop.example or *.example" in done.err


def test_a_campaign_takes_what_the_proxy_takes(
    warex: Warex, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Options] = []
    monkeypatch.setattr(
        progress, "run_and_report", lambda planned, out, options, demand: given.append(options)
    )

    done = warex("run", "demo", "--arm", "start", "--llm-host", "LLM.example", "--out", "x")

    assert done.code == 0
    assert (given[0].arm, given[0].llm_hosts) == ("start", ("llm.example",))
