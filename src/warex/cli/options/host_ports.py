"""The option that lets ports of this machine's loopback through to a namespace."""

import click

AUTO = "auto"


class HostPorts(click.ParamType[frozenset[int]]):
    """A port, several with commas between them, or ``auto`` for all that listen now."""

    name = "ports"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> frozenset[int]:
        """Read the option's value."""
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
