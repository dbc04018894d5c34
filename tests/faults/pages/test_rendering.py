from warex.faults.pages import Incident, render
from warex.seeds import KeyedRng


def test_an_application_that_failed_is_not_a_clients_error() -> None:
    for seed in range(200):
        incident = Incident(404, "shop.test", "/", KeyedRng(seed, "r"))
        assert render("server", incident).family != "heroku"


def test_a_platform_names_its_code_in_a_header_and_on_the_page() -> None:
    page = render("server", Incident(500, "shop.test", "/", KeyedRng(1, "r")), "vercel")

    assert page.headers["x-vercel-error"] in page.body.decode()
    assert page.headers["x-vercel-id"] in page.body.decode()


def test_what_is_inserted_is_escaped_in_html_and_as_it_is_in_plain_text() -> None:
    incident = Incident(500, "shop.test", '/<b>&"', KeyedRng(1, "r"))

    assert b"&lt;b&gt;&amp;&quot;" in render("server", incident, "express").body
    assert b'/<b>&"' in render("server", incident, "plain").body
