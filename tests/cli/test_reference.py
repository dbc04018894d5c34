"""The documentation's commands exist, and those that need no network have been run."""

import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.cases import every
from tests.cli.reference import commands, page
from warex.cli import cli

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
HOW_TOS = [
    page
    for page in sorted((ROOT / "docs" / "how-to").rglob("*.md"))
    if "```console\n" in page.read_text(encoding="utf-8")
]
BLOCK = re.compile(r"^```(console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`]+)`")
PORT = re.compile(r"\b(8001|808\d|3128)\b")


def test_docs_the_reference_is_written_out_of_the_commands() -> None:
    written = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")

    assert written == page(), "run: python -m tests.cli.reference > docs/reference/cli.md"


def test_docs_every_option_says_what_it_means() -> None:
    silent = [
        f"{name} {option.opts[0]}"
        for name, command in commands()
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]

    assert silent == []


# --- what the pages tell people to type ---------------------------------------------------------


def typed(text: str) -> Iterator[list[str]]:
    """Every `warex …` of a page that is a whole command line, as its words."""
    blocks = [block for _, block in BLOCK.findall(text)]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    for line in [
        *(each.removeprefix("$ ") for each in lines),
        *INLINE.findall(FENCED.sub("", text)),
    ]:
        for matches in re.findall(r"(?:^|\(|; |&& )(warex [^;&|)]*)", line.strip()):
            # A line of the design's own notation is not a command line.
            if not re.search(r"[\[\]…\\]", matches):
                yield shlex.split(matches.partition(" > ")[0], comments=True)[1:]


def complaint(words: list[str]) -> str | None:
    """What is wrong with a command line, as the command itself would say; None if nothing."""
    command: click.Command = cli
    with click.Context(cli) as context:
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            result = command.get_command(context, words[0])
            if result is None:
                return f"there is no {words[0]!r}"
            command, words = result, words[1:]
        # What follows a lone "--" is another program's command line.
        words = words[: words.index("--")] if "--" in words else words
        known = {name for option in command.params for name in option.opts} | {"--help", "-h"}
        inputs = {word.partition("=")[0] for word in words if word.startswith("--")}
        return f"{command.name} has no {sorted(inputs - known)}" if inputs - known else None


@every("path", PAGES)
def test_docs_name_only_commands_and_options_there_are(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    wrong = {" ".join(words): message for words in typed(text) if (message := complaint(words))}

    assert wrong == {}


def test_docs_a_wrong_command_line_would_be_found() -> None:
    text = "```sh\nwarex nope\nwarex proxy --nope 1\nwarex demo\n```\nand `warex run x --dry`"

    assert [complaint(words) is None for words in typed(text)] == [False, False, True, False]


# --- running them -------------------------------------------------------------------------------


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a page's console blocks, with what it is shown to print."""
    for kind, block in BLOCK.findall(text):
        if kind != "console":
            continue
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = step.splitlines()
            rest = [line for line in lines[1:] if line.startswith("> ")]
            command = "\n".join([lines[0], *(line.removeprefix("> ") for line in rest)])
            yield command, "\n".join(lines[1 + len(rest) :])


_NOTHING_RUNS_ON = """
for _ in $(seq 100); do test -n "$(jobs -pr)" || exit 0; sleep 0.1; done
echo "the page leaves programs running" >&2
exit 1
"""


def follow(text: str, folder: Path) -> list[tuple[str, str, str]]:
    """Paste a page's console blocks into a script; return each command, shown and real output."""
    ports: dict[str, str] = {}
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(5)]
    for match, holder in zip(sorted(set(PORT.findall(text))), taken, strict=False):
        ports[match] = str(holder.getsockname()[1])
    for holder in taken:
        holder.close()
    page_steps = list(steps(PORT.sub(lambda result: ports[result[0]], text)))
    # As pasted into a script: no job control, and nothing waits unless the page says so.
    script = ["set -euo pipefail", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    for command, _ in page_steps:
        script += ["echo @@@", command]
    script += [_NOTHING_RUNS_ON]
    (folder / "page.sh").write_text("\n".join(script))
    done = subprocess.run(
        ["bash", "page.sh"],
        cwd=folder,
        env={
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "WAREX_CA_DIR": str(folder / "ca"),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    output = done.stdout.split("@@@\n")[1:]
    return [
        (command, shown, heard.strip())
        for (command, shown), heard in zip(page_steps, output, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.wire
@pytest.mark.parametrize("path", HOW_TOS, ids=lambda path: path.stem)
def test_docs_how_tos_work_as_they_are_written(path: Path, tmp_path: Path) -> None:
    for command, shown, text in follow(path.read_text(encoding="utf-8"), tmp_path):
        # A proxy in the background may say where it listens at any time.
        assert [line for line in shown.splitlines() if line not in text.splitlines()] == [], command


@pytest.mark.slow
@pytest.mark.wire
def test_docs_one_how_to_follows_another_in_the_same_shell(tmp_path: Path) -> None:
    names = ("exec", "replay", "point-your-agent-at-it", "control-api", "tasks")
    pages = {name: ROOT / "docs" / "how-to" / f"{name}.md" for name in names}
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages.values())

    for command, shown, message in follow(text, tmp_path):
        assert [line for line in shown.splitlines() if line not in message.splitlines()] == [], (
            command
        )


@pytest.mark.slow
@pytest.mark.browser
def test_docs_the_tutorial_works_as_it_is_written(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    answer = {command: text for command, _, text in follow(text, tmp_path)}

    assert any("not recovered" in each for each in answer.values())
    assert '"patient"' in (tmp_path / "replayed.json").read_text()
