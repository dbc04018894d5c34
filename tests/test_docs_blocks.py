"""Every block of the documentation is read as what it says it is; what is not run says why.

Console blocks of the tutorial and the how-tos are typed and compared by cli/test_reference.py.
"""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from warex.campaigns.config.campaign import CampaignConfig
from warex.scenarios.mistakes import validate_document
from warex.scenarios.scenario import Scenario
from warex.trials.playbook import load_playbook

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    {
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "changes.d/README.md",
        ROOT / "testbed/README.md",
        *(ROOT / "docs").rglob("*.md"),
    }
)
LANGUAGES = {
    "console",
    "sh",
    "text",
    "python",
    "ts",
    "yaml",
    "toml",
    "json",
    "markdown",
    "diff",
}
BLOCK = re.compile(
    r"(?P<before>[^\n]*)\n```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
COMMAND = re.compile(
    r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:warex(?:-testbed)? [a-z]|python3? -m |pip |uvx? )[^\[─]*$",
    re.MULTILINE,
)
"""A line that is a command, not a synopsis."""
NOT_RUN = re.compile(r"<!-- not run: \w.+ -->")


class Block(NamedTuple):
    """One fenced block of a page."""

    page: Path
    line: int
    before: str
    language: str
    text: str

    @property
    def is_followed(self) -> bool:
        """Whether cli/test_reference.py types it."""
        pages = (ROOT / "docs" / "how-to", ROOT / "docs" / "tutorial.md")
        return self.language == "console" and any(self.page.is_relative_to(it) for it in pages)


def blocks() -> Iterator[Block]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for matches in BLOCK.finditer(text):
            line = text.count("\n", 0, matches.start("text")) + 1
            yield Block(page, line, matches["before"], matches["language"], matches["text"])


BLOCKS = [
    pytest.param(block, id=f"{block.page.relative_to(ROOT)}:{block.line}") for block in blocks()
]


def read(block: Block) -> None:
    """Read a block as its language and, where it is a whole file of ours, as that file."""
    match block.language:
        case "json":
            for line in [block.text] if block.text.startswith("{\n") else block.text.splitlines():
                json.loads(line)
        case "toml":
            require_complete(tomllib.loads(block.text))
        case "yaml":
            require_complete(yaml.safe_load(block.text))
        case "python":
            compile(block.text, str(block.page), "exec")
        case "diff":
            added(block.text)
        case "sh":
            done = subprocess.run(
                ["bash", "-n"], input=block.text, text=True, capture_output=True, check=False
            )
            assert done.stderr == ""


def added(text: str) -> None:
    """Find all that a diff adds where it is added."""
    for path, lines in re.findall(r"^\+{3} (\S+)\n((?:\+(?!\+\+).*\n)+)", text, re.MULTILINE):
        existing = (ROOT / path).read_text().splitlines()
        assert {line.removeprefix("+") for line in lines.splitlines()} <= set(existing), path
    assert not re.search(r"^(?!\+)", text.rstrip("\n"), re.MULTILINE)


def require_complete(data: Any) -> None:
    keys = data.keys() if isinstance(data, dict) else set()
    if {"name", "agents", "conditions"} <= keys:
        assert validate_document(CampaignConfig, data)[1] == []
    elif {"name", "rules"} <= keys:
        assert validate_document(Scenario, data)[1] == []


@pytest.mark.parametrize("block", BLOCKS)
def test_docs_each_block_is_what_it_says_it_is(block: Block, tmp_path: Path) -> None:
    assert block.language in LANGUAGES
    if block.language in ("sh", "ts", "console") and not block.is_followed:
        assert NOT_RUN.fullmatch(block.before), "say above it why it is not run"
    else:
        assert not NOT_RUN.fullmatch(block.before), "it is run, or read: drop the reason"
    if block.language == "text":
        assert not COMMAND.search(block.text), "a command is sh or console, so that it is run"
    read(block)
    if block.language == "yaml" and "say:" in block.text:
        (tmp_path / "p.yaml").write_text(block.text)
        load_playbook(tmp_path / "p.yaml")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("json", "{"),
        ("toml", "a = "),
        ("toml", 'name = "x"\nagents = []\nconditions = []\nnope = 1\n'),
        ("yaml", "name: x\nrules: [{name: a, fault: {kind: nope}}]"),
        ("python", "if"),
        ("sh", "if true"),
        ("diff", "+++ README.md\n+never there\n"),
        ("diff", "+++ README.md\n never there\n"),
    ],
)
def test_docs_a_wrong_block_would_be_found(language: str, text: str) -> None:
    with pytest.raises((ValueError, SyntaxError, AssertionError)):
        read(Block(ROOT / "README.md", 1, "", language, text))
