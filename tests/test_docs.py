"""The documentation leads somewhere, and says what is so."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def linked(page: Path) -> list[Path]:
    """Return what ``page`` links to inside the repository."""
    return [
        (page.parent / link).resolve() for link in LINK.findall(page.read_text(encoding="utf-8"))
    ]


def test_docs_link_to_what_exists() -> None:
    dead = [
        f"{page.relative_to(ROOT)} -> {target}"
        for page in PAGES
        for target in linked(page)
        if not target.exists()
    ]

    assert not dead


def test_docs_lead_to_every_page() -> None:
    seen: set[Path] = set()
    ahead = [ROOT / "docs" / "README.md"]
    while ahead:
        page = ahead.pop()
        if page.suffix == ".md" and page not in seen:
            seen.add(page)
            ahead += linked(page)
    lost = {str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")} - {
        str(page.relative_to(ROOT)) for page in seen
    }

    assert not lost, "docs/README.md, or a page it leads to, must link to these"


def test_docs_show_every_room_on_the_map() -> None:
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in (ROOT / "src" / "warex").glob("*/__init__.py")}

    assert {room for room in rooms if f"`{room}`" not in architecture} == set()


def test_docs_explain_every_word_once() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", glossary, re.MULTILINE)

    assert len(words) == len(set(words))
    assert {"fault", "effect", "injection", "exposed", "trial", "outcome"} <= set(words)


def test_docs_hold_no_placeholder_line() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    found = [
        f"{page.relative_to(ROOT)}:{number}"
        for page in pages
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        if re.fullmatch(r"[A-Z]{4,}", line.strip())
    ]

    assert not found
