import pytest

from warex.exchange import Request, Response
from warex.rewriting.html_body.csp import allow_script
from warex.rewriting.html_body.script_injection import InjectedScript

SCRIPT = InjectedScript("run", "/9f2c", key="k1")
TEXT = '"use strict";(run)("k1")'
ASKED = Request("GET", "https://shop.test:8443/a/b?c#d")
HTML = {"content-type": "text/html; charset=utf-8"}


def rewritten(page: bytes, response: Response) -> bytes:
    rewriting = SCRIPT.begin(ASKED, response)
    assert rewriting is not None
    return rewriting.body.feed(page) + rewriting.body.close()


def test_the_script_is_first_in_the_page() -> None:
    page = rewritten(b"<head><title>a</title>", Response(200, HTML))

    assert page == f"<head><script>{TEXT}</script><title>a</title>".encode()


def test_a_script_in_xml_is_escaped() -> None:
    kind = {"content-type": "Application/XHTML+XML"}
    page = rewritten(b"<html><head/></html>", Response(200, kind))

    inside = f"//<![CDATA[\n{TEXT}\n//]]>"
    assert page == f"<html><head/><script>{inside}</script></html>".encode()


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (ASKED, Response(200, {"content-type": "application/json"})),
        (ASKED, Response(200)),
        (ASKED, Response(304, HTML)),
        (ASKED, Response(204, HTML)),
        (Request("HEAD", ASKED.url), Response(200, HTML)),
    ],
)
def test_what_is_not_a_page_has_no_place_for_it(asked: Request, answered: Response) -> None:
    assert SCRIPT.begin(asked, answered) is None


@pytest.mark.parametrize("status", [200, 403, 500])
def test_an_error_page_is_a_page(status: int) -> None:
    assert SCRIPT.begin(ASKED, Response(status, HTML)) is not None


def test_policies_are_opened_for_it_in_the_head_and_in_the_page() -> None:
    rewriting = SCRIPT.begin(ASKED, Response(200, HTML))
    assert rewriting is not None
    policy = "default-src 'none'"
    wanted = allow_script(policy, TEXT, "https://shop.test:8443/9f2c")

    assert rewriting.header("content-security-policy", policy) == wanted
    assert rewriting.header("content-security-policy-report-only", policy) == wanted
    assert rewriting.header("x-frame-options", policy) == policy
    meta = b"<meta http-equiv='content-security-policy' content=\"default-src 'none'\">"
    assert b"/9f2c" in rewriting.body.feed(b"<head>" + meta)
