"""The option that forwards ports of this machine's loopback to a namespace."""

import click

from warex.cli.options.parameters import Parsed


def _read_ports(text: str) -> frozenset[int]:
    if text == "auto":
        from warex.linux.proc_net import listening

        return frozenset(listening())
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= 65535 for word in words):
        raise ValueError(
            f"{text!r} names no ports: give numbers from 1 to 65535 with commas between them, or"
            " auto"
        )
    return frozenset(map(int, words))


host_ports_option = click.option(
    "--host-port",
    "--host-ports",
    "host_ports",
    multiple=True,
    type=Parsed(_read_ports),
    metavar="P",
    help="Local ports that the command needs: 8000,8001; auto: all that listen now.",
)
