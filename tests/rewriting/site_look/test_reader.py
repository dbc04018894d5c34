import base64
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.exchange import SiteLook
from warex.rewriting.site_look.reader import read_look

AT = "https://shop.test/a/b"


def look(page: str, **sheets: str) -> SiteLook:
    return read_look(page.encode(), AT, {f"https://shop.test/{it}": sheets[it] for it in sheets})


def test_a_page_of_today_shows_its_colours_by_variables_and_classes() -> None:
    page = """<!doctype html><html lang="de-CH"><head><title>Angebote | Bergladen</title>
    <link rel=stylesheet href=/s><style>.top{background:var(--bar)}</style></head>
    <body class="app"><header class="top"><a class=logo href=/><img src=../img/l.png alt=Logo></a>
    </header><main><button class="b quiet">x</button><button class="b main">Kaufen</button>"""
    site_look = look(
        page,
        s=":root{--bar:#102030;--go:rgb(200 16 46);--f:'Open Sans',Arial}"
        "body.app{background:#fffdf0;color:#221100;font:16px/1.5 var(--f)}"
        ".b{background:#fff;border-radius:7px;color:#111}button.main{background:var(--go)}",
    )

    assert site_look == SiteLook(
        name="Bergladen",
        language="de-CH",
        logo="https://shop.test/img/l.png",
        ground="#fffdf0",
        ink="#221100",
        accent="#c8102e",
        on_accent="#111111",
        bar="#102030",
        on_bar="#ffffff",
        font="Open Sans, Arial, sans-serif",
        corner="7px",
    )


def test_a_page_of_1998_shows_its_colours_by_attributes() -> None:
    site_look = look(
        "<title>Town Library</title><body bgcolor=#FFFFCC text=navy link=red>"
        "<table bgcolor=gray><tr bgcolor=#336699><td>Town Library</table>"
    )

    assert (site_look.ground, site_look.ink, site_look.bar) == ("#ffffcc", "#000080", "#336699")
    assert site_look.name == "Town Library"


def test_a_drawn_logo_becomes_an_image_that_runs_nothing() -> None:
    site_look = look(
        "<header><a class=brand href=/><svg viewBox='0 0 9 9' onload=alert(1)>"
        "<path fill=currentColor d='M0 0h9v9z'/></svg>Kiosk</a></header>"
    )

    kind, _, data = site_look.logo.partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert b"#111111" in base64.b64decode(data)
    assert site_look.name == "Kiosk"


@pytest.mark.parametrize(
    "source",
    [
        "https://tracker.test/l.png",
        "javascript:alert(1)",
        "data:text/html;base64,AAAA",
        "//tracker.test/l.png",
        "x" * 600 + " ",
        "",
    ],
)
def test_only_an_image_of_the_site_is_its_logo(source: str) -> None:
    value = look(f"<header><img class=logo src='{source}'></header>").logo

    assert value == "" or value.startswith("https://shop.test/")


def test_a_style_sheet_is_linked_by_its_whole_address() -> None:
    page = (
        b"<link rel=stylesheet href=../s.css><link rel=icon href=x><link rel='a STYLESHEET' href=t>"
    )
    sheets = {
        "https://shop.test/s.css": "body { background: #123456 }",
        "https://shop.test/a/t": "body { color: #fedcba }",
        "https://shop.test/a/x": "body { background: #000000; color: #111111 }",
    }

    site_look = read_look(page, AT, sheets)

    assert (site_look.ground, site_look.ink) == ("#123456", "#fedcba")


def test_a_plain_page_gives_a_plain_look() -> None:
    site_look = look("<h1>Hello</h1>")

    assert (site_look.ground, site_look.ink, site_look.accent, site_look.font) == (
        "#ffffff",
        "#111111",
        "",
        "",
    )


@given(st.text(max_size=200), st.text(max_size=200))
def test_nothing_that_a_page_says_can_leave_its_place(text: str, style: str) -> None:
    marked = escape(text)
    site_look = look(
        f"<html lang='{marked}'><title>{marked}</title>"
        f"<meta property=og:site_name content='{marked}'>"
        f"<style>body{{font-family:{style};background:{style};--x:{style};color:var(--x)}}</style>"
        f"<body style='{escape(style)}'><img class=logo src='{marked}' alt='{marked}'>"
    )

    for value in (
        site_look.ground,
        site_look.ink,
        site_look.accent,
        site_look.bar,
        site_look.font,
        site_look.corner,
    ):
        assert not set(value) & set("\"'<>{};()\\/")
    assert not set(site_look.logo) & set("\"'<> ")
    assert site_look.language.replace("-", "").isalnum() or not site_look.language


@pytest.mark.parametrize(
    "page",
    ["<div>" * 100_000, "<style>" + "a:not(" * 50_000, "<title>" + " | " * 50_000, "\0\xff", ""],
)
def test_a_page_that_is_hostile_is_read_without_harm(page: str) -> None:
    assert look(page).ground


def test_a_scripted_page_gives_its_most_used_colour() -> None:
    site_look = look(
        "<style>.a{background:#0b3d2e}.b{background:#0b3d2e}.c{background:#eee}.d{background:#c00}"
        "</style><div id=root></div>"
    )

    assert site_look.accent == "#0b3d2e"
