"""What is built for an index: links, addresses, metadata. tests/slow/test_release.py builds it."""

import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from scripts.distributions import (
    ROOT,
    absolute_links,
    repository_address,
    with_documentation,
    with_urls,
)
from scripts.release_check import lacks, sets_of_extras

from warex.extras import documentation

HOME, TAG = "https://git.example/o/warex", "v1"


def test_links_and_pictures_of_a_page_lead_to_the_repository_at_the_tag() -> None:
    page = (
        "[a](docs/a.md#part), [b](../LICENSE), [c](https://c.example), [d](#part),"
        " [![e](docs/images/e.png)](docs/e.md)"
    )

    assert absolute_links(page, PurePosixPath("testbed"), HOME, TAG) == (
        f"[a]({HOME}/blob/v1/testbed/docs/a.md#part), [b]({HOME}/blob/v1/LICENSE),"
        " [c](https://c.example), [d](#part),"
        f" [![e]({HOME}/raw/v1/testbed/docs/images/e.png)]({HOME}/blob/v1/testbed/docs/e.md)"
    )


def test_the_address_of_the_repository_is_given_or_that_of_its_remote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for inputs, expected in (
        (f"{HOME}.git", HOME),
        (f"{HOME}/", HOME),
        ("/srv/git/warex", None),
    ):
        monkeypatch.setenv("WAREX_HOME", inputs)
        assert repository_address() == expected


def wheel(folder: Path, project: str, *, files: tuple[str, ...]) -> Path:
    path = folder / "a-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a-1.dist-info/METADATA", project)
        for name in files:
            archive.writestr(name, "")
    return path


def test_a_wheel_that_a_stranger_would_miss_something_of_is_refused(tmp_path: Path) -> None:
    bare = "Metadata-Version: 2.4\nName: a\nVersion: 1\n\ngit clone …\n[b](docs/b.md)\n"
    missing = lacks(wheel(tmp_path, bare, files=()))

    assert {"URL Source", "Author", "file py.typed", "classifier Topic ::"} <= {*missing}
    assert "an address to clone" in missing
    assert missing[-1] == "an absolute address in place of ](docs/b.md)"


def test_both_projects_get_the_addresses() -> None:
    for folder in (ROOT, ROOT / "testbed"):
        project = with_urls((folder / "pyproject.toml").read_text(), HOME, TAG)
        assert f'Source = "{HOME}"\n' in project


def test_messages_of_a_wheel_name_pages_by_their_address() -> None:
    names: dict[str, Any] = {"__name__": "extras"}
    exec(with_documentation((ROOT / "src/warex/extras.py").read_text(), HOME, TAG), names)

    assert names["documentation"]("how-to/exec#a-b") == f"{HOME}/blob/v1/docs/how-to/exec.md#a-b"
    assert documentation("how-to/exec#a-b") == "docs/how-to/exec.md#a-b"


def test_wheels_are_looked_for_with_every_extra_of_users(tmp_path: Path) -> None:
    extras = "".join(
        f"Provides-Extra: {it}\n" for it in ("demo", "inspect", "train", "dev", "docs")
    )

    assert sets_of_extras(wheel(tmp_path, f"Name: a\n{extras}\n", files=())) == [
        "demo,train",
        "inspect",
    ]
