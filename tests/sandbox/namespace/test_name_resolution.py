"""Names are asked for by network, and mean what they meant."""

import pytest

from warex.sandbox.namespace.name_resolution import hosts, nsswitch_conf, resolv_conf


def test_the_nameserver_is_another_and_short_names_mean_the_same() -> None:
    value = "nameserver 10.0.0.1\nsearch corp.example lab.example\noptions edns0 ndots:2 rotate\n"

    assert resolv_conf(value).splitlines() == [
        "nameserver 192.0.2.53",
        "search corp.example lab.example",
        "options timeout:2 attempts:1 ndots:2",
    ]


def test_an_empty_resolv_conf_gets_a_nameserver() -> None:
    assert resolv_conf("").startswith("nameserver 192.0.2.53\n")


def test_hosts_are_looked_up_without_unix_sockets_and_the_rest_as_before() -> None:
    value = "passwd: files systemd\n hosts: files mdns4_minimal [NOTFOUND=return] resolve dns\n"

    assert nsswitch_conf(value).splitlines() == ["passwd: files systemd", "hosts: files dns"]


@pytest.mark.parametrize(
    ("line", "retained"),
    [
        ("127.0.0.1 localhost", True),
        ("::1 localhost ip6-localhost ip6-loopback", True),
        ("127.0.0.1 localhost4.localdomain4", True),
        ("127.0.0.1 shop.example", False),
        ("10.0.0.5 intranet", False),
        ("10.0.0.5 localhost", False),
        ("# 127.0.0.1 localhost", False),
    ],
)
def test_only_this_machines_own_names_stay_in_hosts(line: str, retained: bool) -> None:
    lines = hosts(f"127.0.0.1 app.localhost\n{line}\n", "vm").splitlines()

    assert (line in lines) == retained
    assert "127.0.0.1 app.localhost" in lines


def test_only_foreign_names_are_removed_from_a_hosts_line() -> None:
    assert hosts("127.0.0.1 localhost shop.example\n", "").splitlines() == ["127.0.0.1 localhost"]


def test_the_machines_name_is_the_commands_own_loopback() -> None:
    lines = hosts("10.0.0.5 vm vm.corp.example\n", "vm").splitlines()

    assert lines == ["127.0.0.1 localhost", "127.0.0.1 vm"]
