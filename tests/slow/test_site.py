"""The documentation site is built without a network, kept by version, and searched."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def copy_of_repository(folder: Path) -> Path:
    """Copy what git lists into a repository of its own, with one commit."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Copy"]):
        subprocess.run(["git", *words], cwd=folder, env=environment(), check=True)
    return folder


def environment() -> dict[str, str]:
    """This environment, with an author for git, the copy's modules, and no way out."""
    person = {"NAME": "Someone", "EMAIL": "someone@example.org"}
    nobody = "http://127.0.0.1:9"
    return {
        **os.environ,
        **{
            f"GIT_{who}_{what}": it
            for who in ("AUTHOR", "COMMITTER")
            for what, it in person.items()
        },
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": ".",
        "NO_MKDOCS_2_WARNING": "1",
        "WAREX_HOME": "https://forge.example/warex",
        "WAREX_SITE": "https://warex.example/",
        "http_proxy": nobody,
        "https_proxy": nobody,
    }


@pytest.mark.timeout(300)
def test_two_versions_of_the_site_are_served_together(tmp_path: Path) -> None:
    repository = copy_of_repository(tmp_path)

    def run(*words: str) -> str:
        return subprocess.run(
            words, cwd=repository, env=environment(), capture_output=True, text=True, check=True
        ).stdout

    run("mike", "deploy", "0.1.0", "latest")
    run("mike", "deploy", "--update-aliases", "0.2.0", "latest")
    run("mike", "set-default", "latest")

    versions = json.loads(run("git", "show", "gh-pages:versions.json"))
    files = set(run("git", "ls-tree", "-r", "--name-only", "gh-pages").splitlines())
    assert [(each["version"], each["aliases"]) for each in versions] == [
        ("0.2.0", ["latest"]),
        ("0.1.0", []),
    ]
    assert {
        "index.html",
        "0.1.0/index.html",
        "latest",
        "0.2.0/reference/faults/popups.html",
    } <= files
    index = json.loads(run("git", "show", "gh-pages:0.2.0/search/search_index.json"))
    places = {page["location"] for page in index["docs"] if "malicious_popup" in page["text"]}
    assert "reference/faults/popups.html" in {place.partition("#")[0] for place in places}
    llms = run("git", "show", "gh-pages:0.2.0/llms.txt")
    assert "(https://warex.example/0.2.0/how-to/exec.md): `warex exec` runs a command" in llms
    api = run("git", "show", "gh-pages:0.2.0/reference/python.html")
    assert 'id="warex.intercept"' in api
    assert 'id="warex.Interception.ledger"' in api
    security = run("git", "show", "gh-pages:0.2.0/project/contributing.html")
    assert "https://forge.example/warex/blob/v0.1.0/src/warex/traffic.py" in security
