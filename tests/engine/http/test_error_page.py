from warex.engine.http.error_page import error_body, phrase


def test_a_page_names_its_status_twice() -> None:
    assert error_body(431).count(b"431 Request Header Fields Too Large") == 2


def test_an_unknown_status_has_no_phrase() -> None:
    assert (phrase(404), phrase(299)) == (b"Not Found", b"")
