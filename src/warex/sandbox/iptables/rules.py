"""The rules that redirect this machine's traffic to a transparent proxy, as texts.

The paper's Appendix B redirects what the machine sends (OUTPUT) and what arrives from containers
(PREROUTING), and exempts the proxy's user, whose traffic would loop. By default the rules redirect
the traffic of one user only. They reject UDP to the same ports, or a browser would bypass the
proxy by QUIC.

All rules are in WAREX's own chains and table, so that they can be reverted exactly.
"""

from collections.abc import Iterator
from dataclasses import dataclass

NFT_TABLE = "warex"
"""Holds all rules of the nftables backend; family inet."""

_PREFIX = "WAREX_"
_HOOKS = {"nat": ("OUTPUT", "PREROUTING"), "filter": ("OUTPUT", "FORWARD")}
"""The built-in chains that jump to WAREX's, by table."""

BUILT_IN_CHAINS = (
    *((table, hook) for table in _HOOKS for hook in _HOOKS[table]),
    ("nat", ""),
    ("filter", ""),
)
"""What the rules may create; "" for the table itself, after its chains."""


@dataclass(frozen=True, slots=True)
class RedirectSpec:
    """Whose traffic is sent to the proxy."""

    ports: tuple[int, ...]
    proxy_port: int
    user: int | None = None
    """The user whose traffic is redirected; None: all but ``exempt_user``."""
    exempt_user: int | None = None
    """The proxy's user."""
    incoming: tuple[str, ...] = ()
    """Devices whose incoming connections are redirected; "any" for all."""

    def takes(self, user: int) -> bool:
        """Return whether the traffic of this user's processes is redirected."""
        return user == self.user if self.user is not None else user != self.exempt_user


# --- nftables ------------------------------------------------------------------------------------


def nft_ruleset(capture: RedirectSpec) -> str:
    """Return the input of ``nft -f``: one transaction that replaces the table."""
    ports = f"{{ {', '.join(map(str, capture.ports))} }}"
    redirect = f"redirect to :{capture.proxy_port}"
    whose = f"meta skuid {capture.user} " if capture.user is not None else ""
    skipped = [f"meta skuid {capture.exempt_user} return"] if capture.user is None else []
    devices = list(map(_nft_device, capture.incoming))
    # Before other chains, such as Docker's: the first that rewrites a connection decides.
    chains = {
        "output": (
            "nat hook output priority -101",
            [*skipped, f"{whose}tcp dport {ports} {redirect}"],
        ),
        "no_quic_output": (
            "filter hook output priority -1",
            [*skipped, f"{whose}udp dport {ports} reject"],
        ),
    }
    if devices:
        chains["prerouting"] = (
            "nat hook prerouting priority -101",
            [f"{device} tcp dport {ports} {redirect}" for device in devices],
        )
        chains["no_quic_forward"] = (
            "filter hook forward priority -1",
            [f"{device} udp dport {ports} reject" for device in devices],
        )
    lines = [f"add table inet {NFT_TABLE}", f"delete table inet {NFT_TABLE}"]
    lines.append(f"table inet {NFT_TABLE} {{")
    for name, (hook, rules) in chains.items():
        lines += [f"  chain {name} {{", f"    type {hook}; policy accept;"]
        lines += [f"    {rule}" for rule in rules]
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _nft_device(device: str) -> str:
    # A connection of this machine to itself arrives by lo; OUTPUT has handled it.
    if device == "any":
        return 'iifname != "lo"'
    return f'iifname "{device[:-1]}*"' if device.endswith("+") else f'iifname "{device}"'


# --- iptables ------------------------------------------------------------------------------------


def iptables_ruleset(capture: RedirectSpec, saved: str) -> str:
    """Return the input of ``iptables-restore --noflush``, for IPv4 and IPv6.

    ``saved`` is the output of ``iptables-save``; WAREX's rules in it are replaced. Each table is
    one transaction.
    """
    present = _own_rules(saved)
    lines: list[str] = []
    for table, hooks in _HOOKS.items():
        ours = present.get(table, _OwnRules())
        rules = {hook: list(_rules(capture, table, hook)) for hook in hooks}
        used = [hook for hook in hooks if rules[hook]]
        lines.append(f"*{table}")
        # Naming an existing chain empties it.
        names = [*(_PREFIX + hook for hook in used), *ours.chains]
        lines += [f":{name} - [0:0]" for name in dict.fromkeys(names)]
        lines += ours.jumps
        for hook in used:
            lines += [f"-A {_PREFIX}{hook} {rule}" for rule in rules[hook]]
            lines.append(f"-I {hook} 1 -j {_PREFIX}{hook}")
        lines.append("COMMIT")
    return "\n".join([*lines, ""])


def iptables_revert(saved: str) -> str:
    """Return the input that removes WAREX's rules from ``iptables-save``'s output; "" for none."""
    lines: list[str] = []
    for table, ours in _own_rules(saved).items():
        lines.append(f"*{table}")
        lines += ours.jumps
        lines += [f"-F {chain}" for chain in ours.chains]
        lines += [f"-X {chain}" for chain in ours.chains]
        lines.append("COMMIT")
    return "\n".join([*lines, ""]) if lines else ""


def has_accept_policy(saved: str, table: str, chain: str) -> bool:
    """Return whether a built-in chain has its initial policy."""
    initial = f":{chain} ACCEPT "
    return any(name == table and line.startswith(initial) for name, line in _lines(saved))


def _rules(capture: RedirectSpec, table: str, hook: str) -> Iterator[str]:
    protocol, target = ("tcp", f"REDIRECT --to-ports {capture.proxy_port}")
    if table == "filter":
        protocol, target = ("udp", "REJECT")
    if hook == "OUTPUT":
        whose = [""]
        if capture.user is None:
            yield f"-p {protocol} -m owner --uid-owner {capture.exempt_user} -j RETURN"
        else:
            whose = [f"-m owner --uid-owner {capture.user} "]
    else:
        whose = [f"{_device(device)} " for device in capture.incoming]
    for which in whose:
        for port in capture.ports:
            yield f"-p {protocol} {which}-m {protocol} --dport {port} -j {target}"


def _device(device: str) -> str:
    return "! -i lo" if device == "any" else f"-i {device}"


@dataclass(slots=True)
class _OwnRules:
    """WAREX's chains and jumps in one table."""

    chains: tuple[str, ...] = ()
    jumps: tuple[str, ...] = ()
    """The lines that delete them."""


def _own_rules(saved: str) -> dict[str, _OwnRules]:
    by_table: dict[str, _OwnRules] = {}
    for table, line in _lines(saved):
        first, _, rest = line.partition(" ")
        ours = by_table.setdefault(table, _OwnRules())
        if first.startswith(f":{_PREFIX}"):
            ours.chains += (first[1:],)
        elif first == "-A" and f" -j {_PREFIX}" in line and not rest.startswith(_PREFIX):
            ours.jumps += (f"-D {rest}",)
    return {table: ours for table, ours in by_table.items() if ours.chains or ours.jumps}


def _lines(saved: str) -> Iterator[tuple[str, str]]:
    """Yield each line of ``iptables-save`` with its table."""
    table = ""
    for line in saved.splitlines():
        if line.startswith("*"):
            table = line[1:]
        elif line != "COMMIT":
            yield table, line
