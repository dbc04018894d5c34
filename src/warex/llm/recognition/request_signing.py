"""Detects requests with a signed body, which a server refuses if changed.

Sources: AWS Signature Version 4 (IAM User Guide, "Create a signed AWS API request"), with Amazon
S3's names for an unsigned payload; RFC 9530 (digest fields).
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from warex.text.lazy_pattern import lazy_re

_UNSIGNED: Final = ("UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
_AWS: Final = lazy_re(r"AWS4-[A-Z0-9-]+ ", re.IGNORECASE)
_SIGNED_HEADERS: Final = lazy_re(r"SignedHeaders=([^, ]*)", re.IGNORECASE)
_OTHER: Final = lazy_re(r"(?:[A-Z0-9]+-)?HMAC-[A-Z0-9-]+ |Signature ", re.IGNORECASE)
_DIGESTS: Final = ("content-digest", "repr-digest", "digest", "content-md5")
_OF_BODY: Final = frozenset(("content-length", *_DIGESTS))
"""Headers whose signature covers the body."""


def body_signature(path: str, headers: Mapping[str, str]) -> str | None:
    """Return why the body of a request cannot be changed; None if it can.

    ``headers`` have names in lower case; ``path`` includes the query.
    """
    authorization = headers.get("authorization", "")
    if digest := next((name for name in _DIGESTS if name in headers), None):
        return f"its header {digest} has a digest of its body"
    if _AWS.match(authorization):
        named = _SIGNED_HEADERS.search(authorization)
        signed = set(named[1].lower().split(";")) if named else set()
        if headers.get("x-amz-content-sha256") in _UNSIGNED and not signed & _OF_BODY:
            return None
        return (
            "it is signed (AWS Signature Version 4), and a changed one would be refused; for Amazon"
            " Bedrock give the agent an API key (AWS_BEARER_TOKEN_BEDROCK) in place of access keys"
        )
    if any(name.lower() == "x-amz-signature" for name, _ in parse_qsl(path.partition("?")[2])):
        # Such a URL leaves the body unsigned only for some services.
        return "its URL is signed (AWS Signature Version 4)"
    if _OTHER.match(authorization):
        return (
            f"it is signed ({authorization.partition(' ')[0]}), and a changed one would be refused"
        )
    return None
