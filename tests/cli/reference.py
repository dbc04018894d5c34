"""Write docs/reference/cli.md from the definitions of the commands.

python -m tests.cli.reference > docs/reference/cli.md
"""

from collections.abc import Iterator

import click

from warex.cli import cli

_HEAD = """\
# The command line

Written out of the commands by `python -m tests.cli.reference > docs/reference/cli.md`; a test
compares.

A scenario is named by a file (`.yaml`, `.toml`, `.json`) or a preset (`paper/server-error`), a
campaign by a file or a built-in name (`demo`), a trial by its folder or by that of an attempt.

| exit code | means |
| --- | --- |
| 0 | done; `warex proxy`: ended by Ctrl-C, its trace whole |
| 1 | the experiment failed, or a trial is void |
| 2 | bad input: the message names the place, the value and what is allowed |
| 3 | the machine lacks something: the message names the remedy |
| 130 | interrupted; what was written stays, and `warex run --resume` goes on |

| variable | means |
| --- | --- |
| `WAREX_CHROMIUM` | the browser; else `chromium`, `google-chrome`, Playwright's own |
| `WAREX_CA_DIR` | folder of the certificate authority; else `warex/ca` in the user's data |
| `WAREX_RUN_DIR` | where `warex iptables` keeps what is in force; else `/run/warex` |
| `WAREX_PRICES` | file of the price table; else `warex/prices.json` in the user's data |
| `OPENAI_API_KEY` | the model endpoint's key, for the reference agent |
"""


def commands(
    command: click.Command = cli, name: str = "warex"
) -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its whole name, groups before their subcommands."""
    yield name, command
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for child in command.list_commands(context):
                found = command.get_command(context, child)
                assert found is not None
                yield from commands(found, f"{name} {child}")


def page() -> str:
    """Return the whole page."""
    sections = (_section(name, command) for name, command in commands() if command is not cli)
    return "\n".join([_HEAD, *sections]).rstrip() + "\n"


def _section(name: str, command: click.Command) -> str:
    with click.Context(command, info_name=name) as context:
        usage = command.collect_usage_pieces(context)
        rows = [_row(option) for option in command.params if isinstance(option, click.Option)]
    lines = [f"## {name}", "", f"`{' '.join([name, *usage])}`", "", *_prose(command.help or "")]
    if rows:
        lines += ["", "| option | means |", "| --- | --- |", *rows]
    return "\n".join([*lines, ""])


def _prose(text: str) -> list[str]:
    """Return a command's help as lines, its literal paragraphs (after \\b) indented as code."""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        literal = paragraph.startswith("\b")
        lines += ["", *(f"    {line}" if literal else line for line in _lines(paragraph))]
    return lines[1:]


def _lines(paragraph: str) -> list[str]:
    return [line.strip() for line in paragraph.removeprefix("\b").strip().splitlines()]


def _row(option: click.Option) -> str:
    names = ", ".join(option.opts)
    if not option.is_flag:
        metavar = option.metavar or option.type.name.upper().replace(" RANGE", "")
        if isinstance(option.type, click.Choice):
            metavar = " or ".join(option.type.choices)
        names += f" {metavar}"
    means = option.help or ""
    if option.show_default and not option.is_flag:
        means += f" Default: `{option.default}`."
    if option.multiple:
        means += " May be given several times."
    return f"| `{names}` | {means} |".replace("HAR|TRIAL", "HAR or TRIAL")


if __name__ == "__main__":
    print(page(), end="")
