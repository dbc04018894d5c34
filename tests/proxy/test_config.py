"""What a lane is told: only what can work, and the same on the other side of the channel."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from warex.errors import InputError
from warex.faults import AnyFault, ConnectionCut, HttpError, JavascriptFailure, NetworkError
from warex.proxy.config import HostMap, ProxyConfig
from warex.scenarios import Match, Random, Rule, Scenario, Trigger


@pytest.mark.parametrize(
    ("text", "origin", "target"),
    [
        (
            "https://shop.example=http://127.0.0.1:8001",
            ("shop.example", 443),
            ("http", "127.0.0.1", 8001),
        ),
        ("http://Shop.example:81=http://a", ("shop.example", 81), ("http", "a", 80)),
        ("shop.example=https://a/", ("shop.example", 443), ("https", "a", 443)),
        ("http://shop.example/=http://[::1]:8", ("shop.example", 80), ("http", "::1", 8)),
    ],
)
def test_a_mapping_leads_from_an_origin_to_another(
    text: str, origin: tuple[str, int], target: tuple[str, str, int]
) -> None:
    made = HostMap.parse(text)
    assert (made.origin, made.origin_port) == origin
    assert (made.target_scheme, made.target_host, made.target_port) == target


@pytest.mark.parametrize(
    "text",
    [
        "",
        "shop.example",
        "=http://a",
        "https://shop.example=",
        "https://shop.example=127.0.0.1:80",
        "https://shop.example=ftp://a",
        "ws://shop.example=http://a",
        "https://shop.example/cart=http://a",
        "https://shop.example=http://a/b",
        "https://shop.example:99999=http://a",
        "https://shop.example=http://a:b",
        "https://[shop=http://a",
    ],
)
def test_what_is_no_mapping_is_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match="is no mapping of one origin to another"):
        HostMap.parse(text)


@pytest.mark.parametrize(
    "proxy", ["127.0.0.1:8080", "socks5://a:1", "http://a", "http://:80", "http://a:b", "http://[a"]
)
def test_what_is_no_proxy_is_a_sentence(proxy: str) -> None:
    with pytest.raises(ValidationError, match="is no proxy; write http://host:port"):
        ProxyConfig(ca=Path("ca"), upstream=proxy)


def test_a_configuration_crosses_the_channel_whole() -> None:
    faults: tuple[AnyFault, ...] = (
        HttpError(status=503, retry_after=None),
        NetworkError(delay=1.5),
        JavascriptFailure(mode="delay"),
        ConnectionCut(how="close", stage="response"),
    )
    triggers = (
        Trigger(nth=(2, 5), between=(1.0, 2.0)),
        Trigger(random=Random(times=3)),
        Trigger(always=True, after_step=2),
        Trigger(probability=0.25),
    )
    rules = tuple(
        Rule(name=f"r{number}", match=Match(url_regex="a|b"), trigger=triggers[number], fault=fault)
        for number, fault in enumerate(faults)
    )
    config = ProxyConfig(
        ca=Path("ca"),
        scenario=Scenario(name="test", rules=rules, never=("*x*",)),
        maps=(HostMap.parse("a=http://b"),),
        schedule=frozenset({(1, "rule", "GET http://a/", 3)}),
        upstream="http://user:p%40ss@host:3128",
    )
    assert ProxyConfig.model_validate_json(config.model_dump_json()) == config
