"""Files of the repository that readers copy, as pages of the site: one for each folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

TITLES: Final = {
    "ci": "Files for CI",
    "docker": "Files for Docker",
    "fault-package": "Files of a package that adds faults",
    "programs": "Programs that use the Python API",
    "scenarios": "Files of scenarios",
}
"""The pages, by their names in the folder ``files`` of the site."""
_FOLDERS: Final = {
    ".": "ci",
    "docker": "docker",
    "examples": "programs",
    "examples/ci": "ci",
    "examples/plugin_package": "fault-package",
    "examples/plugin_package/src/warex_example": "fault-package",
    "examples/scenarios": "scenarios",
}
"""The page of each folder; of the root, only ``action.yml`` is shown."""
_LANGUAGES: Final = {".json": "json", ".py": "python", ".toml": "toml"} | dict.fromkeys(
    (".yaml", ".yml"), "yaml"
)


def file_pages(root: Path) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the Markdown of each page, and the page of each file and folder that is shown."""
    by_page: dict[str, list[Path]] = {name: [] for name in TITLES}
    places: dict[str, str] = {}
    for folder, name in _FOLDERS.items():
        pattern = "action.yml" if folder == "." else "*"
        files = sorted(it for it in (root / folder).glob(pattern) if it.is_file())
        by_page[name] += files
        page = f"files/{name}.md"
        places |= {str(PurePosixPath(it.relative_to(root))): page for it in files}
        if folder != ".":
            places[folder] = page
    pages = {f"files/{it}.md": _page(TITLES[it], files, root) for it, files in by_page.items()}
    return pages, places


def _page(title: str, files: Sequence[Path], root: Path) -> str:
    sections = (f"# {title}", *(_section(it, root) for it in files))
    return "\n\n".join(sections) + "\n"


def _section(file: Path, root: Path) -> str:
    language = _LANGUAGES.get(file.suffix, "text")
    content = file.read_text("utf-8").rstrip("\n")
    return f"## `{file.relative_to(root)}`\n\n````{language}\n{content}\n````"
