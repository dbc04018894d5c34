"""What becomes of a request to the exit of a wall."""

from typing import Final
from unicodedata import digit
from urllib.parse import parse_qs

from warex.effects import WallExit
from warex.exchange import Request
from warex.lane.whole_response import WholeResponse

CLEARED: Final = "cleared"
"""Recorded when a client passes a wall."""
_WRONG: Final = "wrong_code"
_EARLY: Final = "too_early"
_MOST_FIELDS: Final = 20


def paths_of(wall_exit: WallExit) -> tuple[str, ...]:
    """Return the paths of a wall that the proxy answers."""
    return wall_exit.path, *(f"{wall_exit.path}/{name}" for name in wall_exit.pages)


def answer_at(
    wall_exit: WallExit, request: Request, path: str, content: bytes, now: float
) -> tuple[str, WholeResponse]:
    """Return what is recorded of a request, empty for nothing, and its response.

    The wall is passed by a POST of its form alone, with the right code if it asks for one.
    ``now``: the second of the trial.
    """
    if path != wall_exit.path:
        return "", _page(wall_exit.pages[path.removeprefix(f"{wall_exit.path}/")], request)
    headers = {"location": wall_exit.back, "cache-control": "no-store"}
    if request.method != "POST":
        return "", WholeResponse.make(303, headers, to=request.method)
    if now < wall_exit.opens_at:
        return _EARLY, _page(wall_exit.refusal, request)
    if wall_exit.code and _code_in(content) != wall_exit.code:
        return _WRONG, _page(wall_exit.refusal, request)
    headers["set-cookie"] = f"{wall_exit.cookie}; Path=/; HttpOnly; SameSite=Lax"
    return CLEARED, WholeResponse.make(303, headers)


def _page(body: bytes, request: Request) -> WholeResponse:
    headers = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
    return WholeResponse.make(200, headers, body, to=request.method)


def _code_in(content: bytes) -> str:
    """Return the digits of a form's code, in whatever script they are written."""
    try:
        fields = parse_qs(content.decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        return ""
    written = "".join(fields.get("code", ()))[:100]
    return "".join(str(digit(sign)) for sign in written if sign.isdecimal())
