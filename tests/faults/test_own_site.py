import re

import pytest

from warex.exchange import Request
from warex.faults import CATALOGUE
from warex.faults.own_site import HostedSite, is_unregistrable, unregistrable_host

SITES: list[HostedSite] = [it.own_site for it in CATALOGUE if it.own_site is not None]


def test_a_host_is_a_label_that_registries_refuse() -> None:
    # RFC 5890, section 2.3.1.
    assert unregistrable_host("go", "shop") == "go--shop.com"
    assert all(re.fullmatch(r"(?!xn)..--[a-z]+\.com", host) for it in SITES for host in it.hosts)
    assert all(is_unregistrable(host) for it in SITES for host in it.hosts)


@pytest.mark.parametrize("host", ["", "go", "shop.com", "a.go--shop.com", "go--shop.test"])
def test_other_hosts_are_of_no_fault(host: str) -> None:
    assert not is_unregistrable(host)


def test_no_two_faults_share_a_host() -> None:
    hosts = [host for site in SITES for host in site.hosts]

    assert hosts
    assert len(set(hosts)) == len(hosts)


def test_the_same_request_always_gets_the_same_answer() -> None:
    for site in SITES:
        request = Request("GET", f"https://{site.hosts[0]}/search?q=a")
        assert site.visit(request, "") == site.visit(request, "")
