import re

from warex.exchange import Request
from warex.faults import CATALOGUE
from warex.faults.own_site import HostedSite, unregistrable_host

SITES: list[HostedSite] = [it.own_site for it in CATALOGUE if it.own_site is not None]


def test_a_host_is_a_label_that_registries_refuse() -> None:
    # RFC 5890, section 2.3.1.
    assert unregistrable_host("go", "shop") == "go--shop.com"
    assert all(re.fullmatch(r"(?!xn)..--[a-z]+\.com", host) for it in SITES for host in it.hosts)


def test_no_two_faults_share_a_host() -> None:
    hosts = [host for site in SITES for host in site.hosts]

    assert hosts
    assert len(set(hosts)) == len(hosts)


def test_the_same_request_always_gets_the_same_answer() -> None:
    for site in SITES:
        request = Request("GET", f"https://{site.hosts[0]}/search?q=a")
        assert site.visit(request, "") == site.visit(request, "")
