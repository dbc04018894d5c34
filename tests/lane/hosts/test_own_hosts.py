import pytest

from warex.lane.hosts.own_hosts import (
    CANARY_HOST,
    FAULT_HOSTS,
    RESERVED_HOSTS,
    TASK_HOST,
    is_reserved,
)


@pytest.mark.parametrize("host", [CANARY_HOST, TASK_HOST, "a.b.warex.invalid", "WAREX.invalid."])
def test_own_hosts_are_reserved_with_everything_below_them(host: str) -> None:
    assert is_reserved(host)


@pytest.mark.parametrize("host", ["", "shop.test", "notwarex.invalid", "warex.invalid.shop.test"])
def test_other_hosts_are_not_reserved(host: str) -> None:
    assert not is_reserved(host)


def test_the_sites_of_faults_are_own_hosts() -> None:
    assert FAULT_HOSTS
    assert set(FAULT_HOSTS) < set(RESERVED_HOSTS)
    assert all(host in FAULT_HOSTS and host in RESERVED_HOSTS for host in FAULT_HOSTS)
    assert all(is_reserved(f"www.{host}.") for host in FAULT_HOSTS)
    assert CANARY_HOST not in FAULT_HOSTS
    assert "go--nosuchfault.com" not in RESERVED_HOSTS
