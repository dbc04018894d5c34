import click
import pytest

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
