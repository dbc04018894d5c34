import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from tests.visit import asked, visit
from warex_testbed.web import application, as_json, form, json_fields, page, route


def show(request: Request, number: int) -> Response:
    if number == 0:
        raise KeyError(number)
    return page(f"{request.method} {number} {request.query_params.get('q')}")


def missing(request: Request) -> Response:
    return page("missing", 404)


@pytest.fixture
def app() -> Starlette:
    return application([route("GET", "/things/{id:int}", show)], missing)


def test_the_handler_gets_path_numbers_and_last_query_values(app: Starlette) -> None:
    assert visit(app, "GET", "/things/7?q=x&q=y").body == b"GET 7 y"


def test_head_is_answered_as_get(app: Starlette) -> None:
    assert visit(app, "HEAD", "/things/7").status == 200


def test_what_does_not_exist_is_a_page_or_for_scripts_json(app: Starlette) -> None:
    for path in ("/things/x", "/things/0", "/things/7/", "/nowhere"):
        assert (visit(app, "GET", path).status, visit(app, "GET", path).body) == (404, b"missing")
    assert b"not there any more" in visit(app, "GET", "/api/nowhere").body


def test_a_wrong_method_is_refused(app: Starlette) -> None:
    assert visit(app, "DELETE", "/things/7").status == 405


def test_a_body_that_is_not_a_json_object_is_empty() -> None:
    for body in (b"", b"[1]", b"{", b"[" * 100_000, b"\xff"):
        request = asked("/")
        request.state.body = body
        assert json_fields(request) == {}


def test_the_last_value_of_a_repeated_field_counts() -> None:
    app = application([route("POST", "/", lambda request: as_json(form(request)))], missing)
    assert visit(app, "POST", "/", b"a=1&b=&a=2").body == b'{"a":"2","b":""}'
