from warex.faults.pages import Incident, render
from warex.seeds import KeyedRng


def test_an_application_that_failed_is_no_client_s_error() -> None:
    for seed in range(200):
        incident = Incident(404, "shop.test", "/", KeyedRng(seed, "r"))
        assert render("server", incident).family != "heroku"


def test_a_platform_names_its_code_in_a_header_and_on_the_page() -> None:
    page = render("server", Incident(500, "shop.test", "/", KeyedRng(1, "r")), "vercel")

    assert page.headers["x-vercel-error"] in page.body.decode()
    assert page.headers["x-vercel-id"] in page.body.decode()
