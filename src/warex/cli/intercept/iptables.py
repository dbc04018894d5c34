"""`warex iptables`: firewall rules that redirect a user's traffic to a transparent proxy."""

import re
from typing import TYPE_CHECKING, Any, Literal

import click

from warex.cli.group import Group
from warex.cli.options.parameters import add_options
from warex.cli.output import echo
from warex.errors import InputError

if TYPE_CHECKING:
    from warex.sandbox.iptables.rules import RedirectSpec

type _Backend = Literal["auto", "nftables", "iptables"]

# A network device's name; "+" at the end matches any suffix.
_DEVICE = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._@-]{1,15}\+?")

_rule_options = add_options(
    click.option("--user", metavar="NAME", help="Capture this user's traffic only: the agent's."),
    click.option(
        "--all-but", metavar="NAME", help="Capture all users' traffic but this one's: the proxy's."
    ),
    click.option(
        "--port",
        "ports",
        type=click.IntRange(1, 65535),
        multiple=True,
        help="Capture this port, too, beside 80 and 443.",
    ),
    click.option(
        "--incoming",
        multiple=True,
        metavar="DEVICE",
        help="Capture this device's incoming traffic, too: docker0, br-+, any.",
    ),
    click.option(
        "--proxy-port",
        type=click.IntRange(1, 65535),
        default=8080,
        help="Port of `warex proxy --transparent`.",
    ),
    click.option(
        "--backend",
        type=click.Choice(["auto", "nftables", "iptables"]),
        default="auto",
        help="Firewall program; auto: nftables if installed.",
    ),
)


@click.group("iptables", cls=Group)
def command() -> None:
    """Redirect a user's traffic to the proxy by firewall rules. Needs root.

    The rules go by user, so the agent and the proxy must run as different users. `warex exec` does
    the same for one command without root.

    The rules hold for IPv4 and IPv6 and for new connections; they are refused until the proxy
    listens. UDP to the captured ports (QUIC) is refused.
    """


@command.command("print")
@_rule_options
def print_rules(backend: _Backend, **options: Any) -> None:
    """Print the rules and the proxy's command line. Needs no root."""
    from warex.sandbox.iptables.firewall import choose_backend
    from warex.sandbox.iptables.rules import iptables_ruleset, nft_ruleset

    capture = _capture(**options)
    chosen = choose_backend(backend)
    echo(f"# {_description(capture)}")
    echo(f"# The proxy, {_proxy_user(capture)}:")
    echo(_proxy_line(capture))
    if chosen == "nftables":
        echo("# What `warex iptables apply` puts in force, in one transaction:")
        echo(f"nft -f - <<'RULES'\n{nft_ruleset(capture)}RULES")
    else:
        echo("# What `warex iptables apply` puts in force, for IPv4 and for IPv6:")
        for program in ("iptables-restore", "ip6tables-restore"):
            echo(f"{program} --noflush <<'RULES'\n{iptables_ruleset(capture, '')}RULES")
    echo("# Undo exactly these rules: warex iptables revert")


@command.command("apply")
@_rule_options
def apply_rules(backend: _Backend, **options: Any) -> None:
    """Apply the rules, in place of earlier ones."""
    from warex.sandbox.iptables.firewall import apply

    capture = _capture(**options)
    chosen = apply(capture, backend)
    echo(f"in force ({chosen}): {_description(capture)}")
    echo(f"the proxy, {_proxy_user(capture)}: {_proxy_line(capture)}")
    echo("undo: warex iptables revert")


@command.command("revert")
def revert_rules() -> None:
    """Remove the rules of `apply`."""
    from warex.sandbox.iptables.firewall import revert

    echo("taken back" if revert() else "nothing of WAREX's was in force")


def _capture(
    user: str | None,
    all_but: str | None,
    ports: tuple[int, ...],
    incoming: tuple[str, ...],
    proxy_port: int,
) -> "RedirectSpec":
    from warex.sandbox.iptables.rules import RedirectSpec

    if (user is None) == (all_but is None):
        raise InputError(
            "give --user, the agent's user, or --all-but, the proxy's user: the rules must leave"
            " the proxy's own traffic alone, or it would come back to it"
        )
    captured = tuple(sorted({80, 443, *ports}))
    if proxy_port in captured:
        raise InputError(
            f"--proxy-port {proxy_port} is a captured port ({', '.join(map(str, captured))}); give"
            " another one, on which `warex proxy --transparent` then listens"
        )
    for device in incoming:
        if not _DEVICE.fullmatch(device):
            raise InputError(
                f"--incoming {device!r} is not a network device; write docker0, br-+ for all whose"
                " name begins so, or any"
            )
    return RedirectSpec(
        ports=captured,
        proxy_port=proxy_port,
        user=None if user is None else _number("--user", user),
        exempt_user=None if all_but is None else _number("--all-but", all_but),
        incoming=incoming,
    )


def _number(option: str, name: str) -> int:
    import pwd

    if name.isascii() and name.isdecimal() and int(name) < 2**32 - 1:
        return int(name)
    try:
        return pwd.getpwnam(name).pw_uid
    except (KeyError, ValueError):
        raise InputError(
            f"{option} {name!r}: there is no such user on this machine; make one (useradd -m"
            " NAME), or give a user's number"
        ) from None


def _description(capture: "RedirectSpec") -> str:
    ports = ", ".join(map(str, capture.ports))
    whose = (
        f"what user {capture.user} sends"
        if capture.user is not None
        else f"what all users but {capture.exempt_user} sends"
    )
    devices = "".join(f", and what arrives by {device}," for device in capture.incoming)
    return f"{whose} to ports {ports}{devices} goes to port {capture.proxy_port}"


def _proxy_user(capture: "RedirectSpec") -> str:
    user, exempt = capture.user, capture.exempt_user
    return f"as user {exempt}" if user is None else f"as any user but {user}"


def _proxy_line(capture: "RedirectSpec") -> str:
    # Traffic from a device is redirected to that device's address.
    everywhere = " --host 0.0.0.0" if capture.incoming else ""
    return f"warex proxy --transparent --port {capture.proxy_port}{everywhere}"
