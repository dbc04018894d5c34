"""Write docs/reference/cli.md from the definitions of the commands.

python -m tests.cli.reference > docs/reference/cli.md
"""

import inspect
import re
from collections.abc import Iterator, Sequence

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
| 4 | a gate (`--fail-under`, `--fail-if-worse`) cannot tell, and `--on-unclear` is not given |
| 130 | interrupted; what was written stays, and `warex run --resume` goes on |

| variable | means |
| --- | --- |
| `WAREX_CHROMIUM` | the browser; else `chromium`, `google-chrome`, Playwright's own |
| `WAREX_CA_DIR` | folder of the certificate authority; else `warex/ca` in the user's data |
| `WAREX_RUN_DIR` | where `warex iptables` keeps what is in force; else `/run/warex` |
| `WAREX_PRICES` | file of the price table; else `warex/prices.json` in the user's data |
| `OPENAI_API_KEY` | the model endpoint's key, for the reference agent |
"""

_FEWEST = 3
"""Fewest options of a group."""


def commands(
    command: click.Command = cli, name: str = "warex"
) -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its whole name, groups before their subcommands."""
    yield name, command
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for child in command.list_commands(context):
                result = command.get_command(context, child)
                assert result is not None
                yield from commands(result, f"{name} {child}")


def page() -> str:
    """The whole page; a group of options that the same commands have is printed once."""
    rows = {name: _rows(command) for name, command in commands() if command is not cli}
    users: dict[str, list[str]] = {}
    for name, own in rows.items():
        for row in own:
            users.setdefault(row, []).append(name)
    shared: dict[tuple[str, ...], list[str]] = {}
    for row, names in users.items():
        shared.setdefault(tuple(names), []).append(row)
    groups = {
        those: f"Options of {_and(those)}"
        for those, common in shared.items()
        if len(those) > 1 and len(common) >= _FEWEST
    }
    lines = [_HEAD]
    for name, command in commands():
        if command is not cli:
            own = [row for row in rows[name] if tuple(users[row]) not in groups]
            lines += _section(name, command, own)
            links = [
                f"[{title.lower()}]({_anchor(title)})"
                for those, title in groups.items()
                if name in those
            ]
            lines += [f"Also the {', and the '.join(links)}.\n"] if links else []
    for those, title in groups.items():
        lines += [f"## {title}\n", *_table(shared[those])]
    return "\n".join(lines).rstrip() + "\n"


def _section(name: str, command: click.Command, rows: list[str]) -> list[str]:
    with click.Context(command, info_name=name) as context:
        usage = command.collect_usage_pieces(context)
    arguments = [piece for piece in usage if piece != "[OPTIONS]"]
    heading = f"## {name}\n"
    line = [f"`{' '.join([name, *usage])}`\n"] if arguments else []
    return [heading, *line, *_prose(inspect.cleandoc(command.help or "")), "", *_table(rows)]


def _table(rows: list[str]) -> list[str]:
    return ["| option | means |", "| --- | --- |", *rows, ""] if rows else []


def _and(names: Sequence[str]) -> str:
    *first, last = (f"`{name.removeprefix('warex ')}`" for name in names)
    return f"{', '.join(first)} and {last}"


def _anchor(title: str) -> str:
    """The address of a heading, as GitHub makes it."""
    return "#" + re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _prose(text: str) -> list[str]:
    """Return a command's help as lines, its literal paragraphs (after \\b) indented as code."""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        literal = paragraph.startswith("\b")
        lines += ["", *(f"    {line}" if literal else line for line in _lines(paragraph))]
    return lines[1:]


def _lines(paragraph: str) -> list[str]:
    return [line.strip() for line in paragraph.removeprefix("\b").strip().splitlines()]


def _rows(command: click.Command) -> list[str]:
    with click.Context(command, show_default=True) as context:
        return [
            _row(option, context) for option in command.params if isinstance(option, click.Option)
        ]


def _row(option: click.Option, context: click.Context) -> str:
    names = ", ".join(option.opts)
    if not option.is_flag:
        metavar = option.metavar or option.type.name.upper().replace(" RANGE", "")
        if isinstance(option.type, click.Choice):
            metavar = f"[{'|'.join(option.type.choices)}]"
        names += f" {metavar}"
    means = option.help or ""
    if default := option.get_help_extra(context).get("default"):
        means += f" [default: {default}]"
    if option.multiple:
        means += " Repeatable."
    return f"| `{names.replace('|', '\\|')}` | {means} |"


if __name__ == "__main__":
    print(page(), end="")
