"""Pages of errors, like a site's."""

from http import HTTPStatus


def phrase(status: int) -> bytes:
    """Return the reason phrase of a status, empty if it has none."""
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b""


def error_body(status: int) -> bytes:
    """Return the HTML of an error page."""
    title = b"%d %b" % (status, phrase(status))
    return (
        b"<html>\r\n<head><title>%b</title></head>\r\n<body>\r\n"
        b"<center><h1>%b</h1></center>\r\n</body>\r\n</html>\r\n" % (title, title)
    )
