"""An option about traffic is read where it is given, whoever gives it, or refused in a sentence."""

import pickle
from dataclasses import fields
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from warex.errors import InputError
from warex.traffic import (
    HostMap,
    OptionError,
    TrafficKeywords,
    TrafficOptions,
    origin_of,
    read_host,
    read_origin,
    read_proxy_url,
)


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://shop.example", "https://shop.example"),
        ("https://shop.example/", "https://shop.example"),
        ("http://127.0.0.1:8001", "http://127.0.0.1:8001"),
        ("http://[::1]:80/", "http://[::1]:80"),
    ],
)
def test_an_origin_is_scheme_host_and_port(text: str, origin: str) -> None:
    assert read_origin(text) == origin
    assert origin_of(f"{origin}/v1?key=1#end") == origin


@pytest.mark.parametrize(
    "text",
    ["", "shop", "ftp://shop.example", "https://", "https://a.b/c", "https://a.b?c", "http://a:x"],
)
def test_other_values_are_refused(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"is not an origin; write for instance https://shop\.example"
    ):
        read_origin(text)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Shop.example", "shop.example"),
        ("*.pay.example", "*.pay.example"),
        ("::1", "::1"),
        ("[2001:DB8::7]", "[2001:db8::7]"),
        ("fe80::1%eth0", "fe80::1%eth0"),
    ],
)
def test_a_host_is_a_name_a_pattern_or_an_address(text: str, host: str) -> None:
    assert read_host(text) == host


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
    (made,) = TrafficOptions(maps=(text,)).host_maps
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
def test_what_is_not_a_mapping_is_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="is not a mapping of one origin to another"):
        HostMap.parse(text)


@pytest.mark.parametrize(
    "proxy", ["127.0.0.1:8080", "socks4://a:1", "http://a", "http://:80", "http://a:b", "http://[a"]
)
def test_what_is_not_a_proxy_is_a_sentence(proxy: str) -> None:
    with pytest.raises(ValueError, match="is not a proxy; write http://host:port"):
        read_proxy_url(proxy)


@pytest.mark.parametrize("scheme", ["http", "https", "socks5", "socks5h"])
def test_a_proxy_may_speak_http_tls_or_socks5(scheme: str) -> None:
    url = f"{scheme}://me:p%40ss@proxy.example:1"
    assert read_proxy_url(url) == url


WRONG = [
    ({"maps": ("x",)}, "maps: 'x' is not a mapping"),
    ({"upstream": "corp"}, "upstream: 'corp' is not a proxy"),
    ({"pass_through": ("a b",)}, "pass_through: 'a b' is not a host"),
    ({"llm_hosts": ("",)}, "llm_hosts: '' is not a host"),
    ({"capture_tokens": ("a=tgi",)}, "capture_tokens: 'a=tgi' names no dialect of tokens"),
]


@pytest.mark.parametrize(("fields", "says"), WRONG)
def test_a_value_that_cannot_work_names_its_option(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        TrafficOptions(**fields)
    with pytest.raises(ValidationError, match=says):
        TypeAdapter(TrafficOptions).validate_python(fields)


@pytest.mark.parametrize("fields", [{"arm": "later"}, {"record": "some"}, {"insecure": "perhaps"}])
def test_pydantic_refuses_a_value_of_another_type_also_in_a_made_one(
    fields: dict[str, Any],
) -> None:
    with pytest.raises(ValidationError, match=next(iter(fields))):
        TypeAdapter(TrafficOptions).validate_python(TrafficOptions(**fields))


def test_the_error_crosses_a_process() -> None:
    error = pickle.loads(pickle.dumps(OptionError.of("maps", "'x' is none")))

    assert (str(error), error.option, error.why) == ("maps: 'x' is none", "maps", "'x' is none")


def test_lists_are_added_to_and_other_values_replaced() -> None:
    base = TrafficOptions(maps=("a=http://b",), record="concerned", insecure=True)

    more = base.extended(maps={"http://c": "http://d"}, pass_through="Bank.example", record="all")

    assert more == TrafficOptions(
        maps=("a=http://b", "http://c=http://d"), insecure=True, pass_through=("bank.example",)
    )


def test_an_unknown_keyword_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'passthrough'"):
        TrafficOptions().extended(passthrough="a")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("fields", "everything"),
    [({}, True), ({"record": "concerned"}, False), ({"pass_through": ("a.example",)}, False)],
)
def test_all_is_read_unless_an_option_leaves_something_out(
    fields: dict[str, Any], everything: bool
) -> None:
    assert TrafficOptions(**fields).reads_everything is everything


def test_the_keywords_are_the_fields() -> None:
    assert tuple(TrafficKeywords.__annotations__) == tuple(
        field.name for field in fields(TrafficOptions)
    )
