"""A response that a fault sends piece by piece, or cuts."""

from dataclasses import dataclass
from typing import Literal

from mitmproxy import http

from warex.llm.body.framing import stream_chunks
from warex.proxy.exchange import flows

_KEY = "warex_sending"


@dataclass(slots=True)
class PacedResponse:
    """A response that is sent piece by piece."""

    pieces: list[bytes]
    pause: float = 0.0
    """Seconds before each piece but the first."""
    cut: Literal["close", "reset"] | None = None
    """How the connection ends after the last piece; None if the response ends regularly."""


@dataclass(frozen=True, slots=True)
class ResponsePiece:
    """The next piece to be sent."""

    flow: http.HTTPFlow
    data: bytes
    pause: float


@dataclass(frozen=True, slots=True)
class ResponseCut:
    """A response whose last piece is sent, and whose connection is to be cut."""

    flow: http.HTTPFlow
    how: Literal["close", "reset"]


def paced_response_of(flow: http.HTTPFlow) -> PacedResponse | None:
    """Return how a response is paced; None if it is sent as it is."""
    found: PacedResponse | None = vars(flow).get(_KEY)
    return found


def trickle(flow: http.HTTPFlow, pause: float) -> None:
    """Have the response sent piece by piece."""
    _sending(flow).pause = pause


def truncate(flow: http.HTTPFlow, share: float, how: Literal["clean", "close", "reset"]) -> None:
    """Have only the first part of the response sent: at least one piece, and not the last."""
    sending = _sending(flow)
    kept = max(1, min(int(share * len(sending.pieces)), len(sending.pieces) - 1))
    sending.pieces = sending.pieces[:kept]
    if how != "clean":
        sending.cut = how
    elif flow.response is not None and "content-length" in flow.response.headers:
        flow.response.headers["content-length"] = str(sum(map(len, sending.pieces)))


def _sending(flow: http.HTTPFlow) -> PacedResponse:
    """Return the response in pieces; it is decompressed first, if possible."""
    if (found := paced_response_of(flow)) is not None:
        return found
    response = flow.response
    assert response is not None
    flows.decode_content(response)
    body = response.raw_content or b""
    kind = response.headers.get("content-type", "")
    made = vars(flow)[_KEY] = PacedResponse(stream_chunks(body, kind) or [b""])
    return made
