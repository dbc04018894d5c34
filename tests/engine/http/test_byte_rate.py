"""A limit of bytes a second."""

import pytest

from warex.engine.http.byte_rate import ByteRate


def sent_after(limit: ByteRate, size: int, late: float = 0.0) -> float:
    """Send that much piece by piece, each a little late; return when the last byte left."""
    now = 0.0
    while size:
        piece = min(size, limit.piece)
        now += max(0.0, limit.reserve(piece, now, 0.0)) + late
        size -= piece
    return now


@pytest.mark.parametrize("rate", [1, 10_000, 10_000_000, 1_000_000_000])
def test_a_rate_is_kept_despite_late_pieces(rate: int) -> None:
    limit = ByteRate(rate)
    late = 0.5 * limit.piece / rate
    assert sent_after(limit, 100 * limit.piece, late) == pytest.approx(
        100 * limit.piece / rate + late
    )


def test_two_senders_share_a_limit() -> None:
    limit = ByteRate(1000)
    assert [limit.reserve(100, 0, 0) for _ in range(4)] == pytest.approx([0.1, 0.2, 0.3, 0.4])


def test_a_burst_passes_immediately_after_a_silence() -> None:
    limit = ByteRate(1000, burst=500)
    assert limit.reserve(500, 0, 0) <= 0
    assert limit.reserve(100, 0, 0) == pytest.approx(0.1)
    assert limit.reserve(500, 60, 60) <= 0
    assert limit.reserve(500, 60, 60) == pytest.approx(0.5)


def test_what_was_not_sent_in_a_silence_is_not_saved() -> None:
    limit = ByteRate(1000)
    limit.reserve(100, 0, 0)
    assert limit.reserve(100, 60, 60) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("rate", "piece"), [(1, 1), (10_000, 200), (1_000_000, 20_000), (10_000_000, 65_536)]
)
def test_a_piece_is_a_fiftieth_of_a_second_or_64_kib(rate: int, piece: int) -> None:
    assert ByteRate(rate).piece == piece
