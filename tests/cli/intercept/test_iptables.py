"""`warex iptables`: what is refused, and what `print` shows to anybody."""

import pytest

from tests.cli.conftest import Warex


def test_print_shows_the_rules_and_the_proxys_line(warex: Warex) -> None:
    result = warex("iptables", "print", "--user", 1001, "--port", 7770, "--backend", "nftables")

    assert result.code == 0
    assert "what user 1001 sends to ports 80, 443, 7770 goes to port 8080" in result.out
    assert "\nwarex proxy --transparent --port 8080\n" in result.out
    assert "meta skuid 1001 tcp dport { 80, 443, 7770 } redirect to :8080" in result.out


def test_print_shows_both_families_of_iptables(warex: Warex) -> None:
    result = warex("iptables", "print", "--user", "root", "--backend", "iptables")

    assert [line.split()[0] for line in result.out.splitlines() if "<<" in line] == [
        "iptables-restore",
        "ip6tables-restore",
    ]
    assert result.out.count("--uid-owner 0 ") == 8


def test_what_arrives_from_containers_needs_a_proxy_that_they_reach(warex: Warex) -> None:
    arguments = ("--all-but", 998, "--proxy-port", 9000, "--incoming", "docker0")
    result = warex("iptables", "print", *arguments)

    assert "# The proxy, as user 998:\n" in result.out
    assert "\nwarex proxy --transparent --port 9000 --host 0.0.0.0\n" in result.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "give --user, the agent's user, or --all-but"),
        (("--user", "1", "--all-but", "2"), "give --user, the agent's user, or --all-but"),
        (("--user", "nobody-of-this-name"), "there is no such user on this machine; make one"),
        (("--all-but", str(2**32)), "there is no such user"),
        (("--user", "1", "--port", "8080"), "--proxy-port 8080 is a captured port"),
        (("--user", "1", "--incoming", 'x"; flush'), "is not a network device; write docker0"),
        (("--user", "1", "--incoming", "+"), "is not a network device"),
        (("--user", "1", "--incoming", ""), "is not a network device"),
    ],
)
@pytest.mark.parametrize("subcommand", ["print", "apply"])
def test_what_cannot_work_is_refused_before_anything_is_touched(
    warex: Warex, subcommand: str, arguments: tuple[str, ...], sentence: str
) -> None:
    result = warex("iptables", subcommand, *arguments)

    assert (result.code, result.out) == (2, "")
    assert sentence in result.err
