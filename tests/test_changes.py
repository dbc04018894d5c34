"""The changes since the last release: a file for each, which the next release gathers."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHANGES = ROOT / "changes.d"
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
TYPES = {kind["directory"] for kind in CONFIG["type"]}


def mistakes(folder: Path) -> list[str]:
    """Return each file that is not a change of a known type, in words."""
    wrong = []
    for path in sorted(folder.iterdir()):
        name = re.fullmatch(r"\+[a-z0-9-]+\.([a-z]+)\.md", path.name)
        if path.name == "README.md":
            continue
        if name is None or name[1] not in TYPES:
            wrong.append(f"{path.name}: name it +SLUG.TYPE.md, TYPE one of {sorted(TYPES)}")
        elif not path.read_text("utf-8").strip():
            wrong.append(f"{path.name} is empty")
    return wrong


def test_docs_every_change_has_a_known_type_and_a_sentence() -> None:
    assert mistakes(CHANGES) == []


def test_a_change_that_the_release_would_leave_out_is_found(tmp_path: Path) -> None:
    for name in ("README.md", "+a.added.md"):
        (tmp_path / name).write_text("One.\n")
    for name in ("+a.add.md", "a.added.md", "+b.md"):
        (tmp_path / name).write_text("Two.\n")
    (tmp_path / "+c.fixed.md").touch()

    assert [each.split(":")[0].split()[0] for each in mistakes(tmp_path)] == [
        "+a.add.md",
        "+b.md",
        "+c.fixed.md",
        "a.added.md",
    ]


def test_the_page_about_changes_has_each_type() -> None:
    page = (CHANGES / "README.md").read_text("utf-8")

    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == [
        kind["directory"] for kind in CONFIG["type"]
    ]


@pytest.mark.slow
def test_a_release_puts_the_changes_above_the_earlier_ones(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "changes.d").mkdir()
    (tmp_path / "changes.d/+one.added.md").write_text("A first thing.\n")
    (tmp_path / "changes.d/+two.security.md").write_text("A second thing.\n")
    before = (tmp_path / "CHANGELOG.md").read_text("utf-8")

    subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "9.9.9"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )

    after = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    above, _, below = after.partition("\n## 9.9.9 (")
    assert before.startswith(above)
    assert "### Added\n\n- A first thing.\n\n### Security\n\n- A second thing.\n" in below
    assert "\n## 0.1.0 (" in below
