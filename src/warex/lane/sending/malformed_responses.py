"""Complete responses that are sent on with a defect, where they and their version can have it."""

from warex.effects import Malform
from warex.engine.http.encoding import encode_broken
from warex.engine.http.heads import RequestHead
from warex.engine.http.malformed import NEEDS_BODY, Defect, is_of
from warex.lane.state import AppliedInjection, Draft


def malform(request: RequestHead, draft: Draft, applied: AppliedInjection, effect: Malform) -> None:
    """Have the response sent with the defect; note it if there is no place for that."""
    if effect.defect == "coding":
        _break_coding(draft, applied, effect)
    else:
        _send_with(request, draft, applied, effect.defect)


def add_stray_line(request: RequestHead, draft: Draft, applied: AppliedInjection) -> None:
    """Have the response sent with a line that is not a field."""
    _send_with(request, draft, applied, "header")


def _send_with(
    request: RequestHead, draft: Draft, applied: AppliedInjection, defect: Defect
) -> None:
    response = draft.response
    has_place = response is not None and is_of(defect, is_http2=request.version == "HTTP/2.0")
    if not has_place or (defect in NEEDS_BODY and not _content(draft)):
        applied.is_unmet = True
        return
    applied.is_answer = True
    draft.defect = defect


def _break_coding(draft: Draft, applied: AppliedInjection, effect: Malform) -> None:
    content = _content(draft)
    if draft.response is None or not content:
        applied.is_unmet = True
        return
    applied.is_answer = True
    response = draft.response.decoded()
    headers = response.head.headers.with_field("content-encoding", effect.coding)
    body = response.body if draft.pieces is None else content
    draft.response = response.with_headers(headers).with_body(encode_broken(body, effect.coding))
    draft.pieces = None


def _content(draft: Draft) -> bytes:
    if draft.pieces is not None:
        return b"".join(draft.pieces)
    return b"" if draft.response is None else draft.response.body
