from http import HTTPStatus

from warex.faults.pages.reasons import reason

# RFC 9110 renamed these; older Pythons still use the phrases of RFC 7231.
RENAMED = {413, 414, 416, 418, 422}


def test_every_error_status_python_knows_has_its_phrase() -> None:
    for status in HTTPStatus:
        if status >= 400 and status not in RENAMED:
            assert reason(status) == status.phrase


def test_an_unassigned_status_has_the_phrase_of_its_class() -> None:
    assert reason(499) == "Client Error"
    assert reason(599) == "Server Error"
