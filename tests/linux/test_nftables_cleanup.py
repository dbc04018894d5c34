"""The kernel is asked for tables and chains; it deletes only what stands empty. Needs root."""

import sys
from collections.abc import Iterator

import pytest

from tests.sandbox.network import Network, network

pytestmark = [pytest.mark.slow, pytest.mark.wire]

ASK = "import sys; from warex.linux.nftables_cleanup import *; print(eval(sys.argv[1]))"


@pytest.fixture
def net() -> Iterator[Network]:
    with network() as made:
        yield made


def ask(net: Network, call: str) -> str:
    return net.says(sys.executable, "-c", ASK, call).strip()


def test_only_what_stands_empty_is_deleted(net: Network) -> None:
    assert ask(net, "exists('ip', 'nat')") == "False"
    net.says("iptables", "-t", "nat", "-A", "OUTPUT", "-p", "tcp", "-j", "ACCEPT")
    assert ask(net, "[exists('ip', 'nat', c) for c in ('OUTPUT', 'INPUT')]") == "[True, False]"
    assert ask(net, "exists('ip6', 'nat')") == "False"

    full = net.says("nft", "list", "ruleset")
    ask(net, "[delete_if_empty('ip', 'nat', c) for c in ('OUTPUT', 'INPUT', '')]")
    assert net.says("nft", "list", "ruleset") == full

    net.says("iptables", "-t", "nat", "-F")
    ask(net, "[delete_if_empty('ip', 'nat', c) for c in ('OUTPUT', 'INPUT', '')]")
    assert net.says("nft", "list", "ruleset") == ""
