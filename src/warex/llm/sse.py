"""Server-sent events (WHATWG HTML, section 9.2), whole or cut."""

import re
from collections.abc import Iterator

_LINE_END = re.compile(r"\r\n|\n|\r")


def sse_data(body: bytes) -> Iterator[str]:
    """Yield the data of each event; comments, names and ids are passed over.

    An event without the closing blank line is yielded too, unlike in a browser: some servers end
    so, and whether a cut one still makes sense only its reader can tell.
    """
    data: list[str] = []
    text = body.decode("utf-8", errors="replace").removeprefix("\ufeff")
    for line in _LINE_END.split(text):
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)
