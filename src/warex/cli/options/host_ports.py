"""The option that forwards ports of this machine's loopback to a namespace."""

import click

AUTO = "auto"


class HostPorts(click.ParamType[frozenset[int]]):
    """Ports separated by commas, or ``auto`` for all that are listened on now."""

    name = "ports"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> frozenset[int]:
        """Return the ports."""
        if value == AUTO:
            from warex.linux.proc_net import listening

            return frozenset(listening())
        words = [word.strip() for word in value.split(",")]
        if not all(word.isdecimal() and 1 <= int(word) <= 65535 for word in words):
            self.fail(
                f"{value!r} names no ports: give numbers from 1 to 65535 with commas between them,"
                f" or {AUTO}",
                param,
                ctx,
            )
        return frozenset(map(int, words))
