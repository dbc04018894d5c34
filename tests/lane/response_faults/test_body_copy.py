import pytest

from warex.lane.response_faults.body_copy import BodyCopy


@pytest.mark.parametrize(
    ("pieces", "body"),
    [([b"ab", b"cd"], b"abcd"), ([], b""), ([b"abcd", b"e"], b""), ([b"abcde", b"f"], b"")],
)
def test_a_body_is_copied_whole_or_not_at_all(pieces: list[bytes], body: bytes) -> None:
    copy = BodyCopy(4)
    for piece in pieces:
        assert list(copy.feed(piece)) == [piece]
    copy.close()

    assert copy.body == body
