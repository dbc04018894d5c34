"""How often a peer may do what costs it nothing."""

from tests.engine.http.http2.peers import Clock
from warex.engine.http.http2.floods import Rate, RateLimit


def test_a_burst_is_allowed_once_and_then_a_rate() -> None:
    clock = Clock()
    limit, rate = RateLimit(clock), Rate(burst=3, per_second=2)
    assert [limit.allows("a", rate) for _ in range(4)] == [True, True, True, False]
    assert limit.allows("b", rate)
    clock.now += 1
    assert [limit.allows("a", rate) for _ in range(2)] == [True, False]
    clock.now += 1000
    assert [limit.allows("a", rate) for _ in range(4)] == [True, True, True, False]
