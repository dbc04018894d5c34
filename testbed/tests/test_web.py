from warex_testbed.web import Request, Response, Route, dispatch, page


def show(request: Request, number: int) -> Response:
    return page(f"{request.method} {number}")


ROUTES = (Route("GET", "/things/{id}", show),)


def test_the_host_is_without_port_and_case() -> None:
    request = Request.parse("GET", "/a%20b?q=x&q=y", "Calendar.WAREX.test:8443")
    assert request.host == "calendar.warex.test"
    assert request.query == {"q": "y"}


def test_a_number_in_the_path_reaches_the_handler() -> None:
    answer = dispatch(ROUTES, Request("GET", "/things/7"))
    assert answer == page("GET 7")


def test_head_is_answered_as_get() -> None:
    assert dispatch(ROUTES, Request("HEAD", "/things/7")) is not None


def test_an_unknown_path_is_nobodys_and_a_wrong_method_is_refused() -> None:
    assert dispatch(ROUTES, Request("GET", "/things/x")) is None
    refused = dispatch(ROUTES, Request("DELETE", "/things/7"))
    assert refused is not None
    assert refused.status == 405


def test_a_body_that_is_no_json_object_is_empty() -> None:
    for body in (b"", b"[1]", b"{", b"[" * 100_000, b"\xff"):
        assert Request("POST", "/", body=body).json() == {}
