import pytest

from warex.llm.recognition.request_signing import body_signature

AWS = (
    "AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/bedrock/aws4_request,"
    " SignedHeaders={signed}, Signature=d227dea7"
)
PATH = "/model/m/converse"


def aws(signed: str = "content-type;host;x-amz-date", payload: str = "") -> dict[str, str]:
    """The headers that botocore sends."""
    digest = {"x-amz-content-sha256": payload} if payload else {}
    return {"authorization": AWS.format(signed=signed), "x-amz-date": "20260101T000000Z", **digest}


@pytest.mark.parametrize(
    ("path", "headers", "words"),
    [
        (PATH, aws(), "AWS Signature Version 4"),
        (PATH, aws(payload="44136fa355b3678a"), "AWS_BEARER_TOKEN_BEDROCK"),
        (PATH, aws("content-length;host;x-amz-content-sha256", "UNSIGNED-PAYLOAD"), "is signed"),
        (PATH, {"authorization": "AWS4-ECDSA-P256-SHA256 Credential=AK"}, "is signed"),
        (f"{PATH}?X-Amz-Signature=d2", {}, "its URL is signed"),
        (PATH, {"content-digest": "sha-256=:abc=:"}, "content-digest has a digest"),
        (PATH, {"content-md5": "abc="}, "content-md5 has a digest"),
        (PATH, {"authorization": "TC3-HMAC-SHA256 Credential=AK"}, "signed (TC3-HMAC-SHA256)"),
        (PATH, {"authorization": 'Signature version="1"'}, "signed (Signature)"),
    ],
)
def test_a_body_that_is_signed_cannot_be_changed(
    path: str, headers: dict[str, str], words: str
) -> None:
    assert words in (body_signature(path, headers) or "")


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (PATH, {}),
        (PATH, {"authorization": "Bearer sk-1"}),
        (PATH, {"authorization": "Basic AWS4-HMAC-SHA256"}),
        (PATH, {"x-amz-date": "20260101T000000Z"}),
        (f"{PATH}?key=AWS4", {"x-goog-api-key": "k"}),
        (PATH, aws("host;x-amz-content-sha256;x-amz-date", "UNSIGNED-PAYLOAD")),
    ],
)
def test_any_other_can(path: str, headers: dict[str, str]) -> None:
    assert body_signature(path, headers) is None
