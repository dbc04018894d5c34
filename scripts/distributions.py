"""Build the wheels and source distributions of WAREX and its testbed.

    python -m scripts.distributions [FOLDER]

They are built from a copy of the repository, in which the links and pictures of each README are
absolute, as an index shows it alone, and it, the metadata and WAREX's messages have the addresses
of the repository. Its address is `$WAREX_HOME`, else that of the remote `origin`; without one, the
links stay as they are.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PROJECTS: Final = (PurePosixPath("."), PurePosixPath("testbed"))
"""The folders of the two distributions, as git names them."""
_LINK: Final = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
_URLS: Final = "[project.urls]\n"
_PICTURES: Final = (".png", ".svg", ".gif", ".webp")


def absolute_links(page: str, folder: PurePosixPath, home: str, tag: str) -> str:
    """Return a page with absolute links; ``folder`` is where it is in the repository."""

    def replace(match: re.Match[str]) -> str:
        kind = "raw" if match[1].endswith(_PICTURES) else "blob"
        return f"]({home}/{kind}/{tag}/{os.path.normpath(folder / match[1])}"

    return _LINK.sub(replace, page)


def with_urls(project: str, home: str, tag: str) -> str:
    """Return a pyproject.toml whose metadata has the addresses of a repository."""
    before, section, after = project.partition(_URLS)
    urls = {
        "Homepage": home,
        "Documentation": f"{home}/blob/{tag}/docs/README.md",
        "Source": home,
        "Issues": f"{home}/issues",
        "Changelog": f"{home}/blob/{tag}/CHANGELOG.md",
        "Security": f"{home}/security/policy",
    }
    lines = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    return f"{before}{section}{lines}{after}"


def with_documentation(extras: str, home: str, tag: str) -> str:
    """Return ``warex/extras.py`` with the address of the documentation, for WAREX's messages."""
    replaced = extras.replace('"docs/{page}.md"', f'"{home}/blob/{tag}/docs/{{page}}.md"')
    assert replaced != extras
    return replaced


def repository_address() -> str | None:
    """Return the address of the repository as a browser opens it; None if unknown."""
    address = os.environ.get("WAREX_HOME")
    if not address:
        command = ["git", "-C", str(ROOT), "remote", "get-url", "origin"]
        address = subprocess.run(
            command, capture_output=True, text=True, check=False
        ).stdout.strip()
        address = re.sub(r"^(?:ssh://)?git@([^:/]+)[:/]", r"https://\1/", address)
    address = address.removesuffix("/").removesuffix(".git")
    return address if address.startswith("https://") else None


def build(out: Path, home: str | None, *options: str) -> list[Path]:
    """Build both distributions into a folder, with options of `uv build`; return the files."""
    version = re.search(r'^VERSION = "(.+)"$', (ROOT / "src/warex/version.py").read_text(), re.M)
    assert version
    tag = f"v{version[1]}"
    with TemporaryDirectory(prefix="warex-build-") as temporary:
        copy = Path(temporary)
        for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", "src", "testbed"):
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist", ".*")
                shutil.copytree(source, copy / name, ignore=ignored)
            else:
                shutil.copy(source, copy / name)
        if home is not None:
            extras = copy / "src" / "warex" / "extras.py"
            extras.write_text(with_documentation(extras.read_text("utf-8"), home, tag))
        for folder in PROJECTS:
            readme, project = copy / folder / "README.md", copy / folder / "pyproject.toml"
            if home is not None:
                page = readme.read_text("utf-8").replace("git clone … ", f"git clone {home} ")
                readme.write_text(absolute_links(page, folder, home, tag))
                project.write_text(with_urls(project.read_text("utf-8"), home, tag))
            subprocess.run(
                ["uv", "build", "--quiet", *options, "--out-dir", str(out.absolute())],
                cwd=copy / folder,
                env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
                check=True,
            )
    return sorted(path for path in out.iterdir() if path.suffix in (".whl", ".gz"))


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    address = repository_address()
    if address is None:
        print("The address of the repository is unknown, so links stay relative (set WAREX_HOME).")
    for path in build(folder, address):
        print(path)
