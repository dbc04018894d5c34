"""The documentation leads somewhere, and says what is so."""

import re
from pathlib import Path

from warex.scenarios.presets import preset_names

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), ROOT / "testbed/README.md", *(ROOT / "docs").rglob("*.md")]
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")

SOURCES = [*(ROOT / "src").rglob("*.py"), *(ROOT / "testbed/src").rglob("*.py")]
OTHER_CODE = [
    path
    for folder in ("bench", "docs", "examples", "scripts", "testbed/tests", "tests")
    for path in (ROOT / folder).rglob("*.py")
]
CLUMSY = re.compile(
    r"\b(?:likewise|besides|anew|mend(?:s|ed)?|heeds?|whoever)\b|cannot be (?:had|told)|told apart"
    r"|\bthat there (?:is|are) not\b|\bwhat there (?:is|are)\b"
    r"|\b(?:of|for) one's own\b|(?<!there )(?-i:\b(?:is|are|was|were) none)\b"
    r"|(?<!there )\b(?:is|are|was|were)\s+no\s+(?!longer|more|less|better|such|one\b)\w+",
    re.IGNORECASE,
)
"""Turns that are hard to read: write "the same", "that does not exist", "is not a"."""
VAGUE = r"(?:found|given|gone|held|kept|laid|said|sighting|spoken|there|told|whole)"
NAMES_IT = re.compile(
    rf"^[^\n\"'`#]*(?<![a-zA-Z])(?:{VAGUE}|{VAGUE.upper()}|{VAGUE.title()})\b.*$", re.MULTILINE
)
BINDS_IT = re.compile(
    rf"^ +(?:[\w*(]+, )*{VAGUE}(?:, [\w*()]+)*(?:: [^=]+)? [-+|&]?= "
    rf"|\b(?:for|lambda|as) (?:[\w*(]+, )*{VAGUE}\b(?:, \w+\)?)*(?: in |:)|\({VAGUE} := "
    rf"|[(,] ?\**{VAGUE}: [\w\"]+.*[,)]|^ +{VAGUE}: .*,$"
    rf"|^ *(?:async )?(?:def|class) _*(?i:{VAGUE})\b"
    rf"|^ *_*(?i:{VAGUE})(?:: [^=]+)?(?: = .*)?$"
    rf"|\bself\._*{VAGUE}(?:: [^=]+)?(?:, [\w.]+)* = "
)
"""A line that gives something a name that does not say what it holds or does."""


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


def test_docs_show_every_package_on_the_map() -> None:
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = {path.parent.name for path in (ROOT / "src" / "warex").glob("*/__init__.py")}

    assert {package for package in packages if f"`{package}`" not in architecture} == set()


def test_the_map_shows_no_package_that_does_not_exist() -> None:
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    map_of_packages = architecture.partition("| package |")[2].partition("\n\n")[0]
    shown = {
        package
        for line in map_of_packages.splitlines()
        for package in re.findall(r"`(\w+)`", line.split("|")[1] if "|" in line[1:] else "")
    }
    existing = {path.stem for path in (ROOT / "src" / "warex").glob("*")}

    assert len(shown) > 10
    assert shown - existing == set()


def test_pages_repeat_what_the_benchmarks_measured() -> None:
    measured = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    match = re.search(r"\| `page` \|[^|]*\| ([\d.]+) times \|.*adds (\d+) ms", measured)
    assert match
    times, seconds = f"{float(match[1]):.1f}", f"{int(match[2]) / 1000:.1f}"

    for page, message in {
        "README.md": f"60 parts takes {times} times as long through it as without a proxy, some"
        f" {seconds} s more",
        "docs/paper.md": f"a page of 60 parts takes {times} times as long",
    }.items():
        words = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        assert message in words, page


def test_the_glossary_explains_every_word_once_and_25_at_most() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", glossary, re.MULTILINE)

    assert len(words) == len(set(words)) <= 25
    assert {"fault", "effect", "injection", "exposed", "trial", "outcome"} <= set(words)


def test_docs_name_only_presets_that_exist() -> None:
    presets = set(preset_names())
    families = "|".join({name.partition("/")[0] for name in presets})
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {
        name
        for page in pages
        for name in re.findall(rf"`((?:{families})/[a-z-]+)`", page.read_text("utf-8"))
    }

    assert named - presets == set()
    assert presets == named, "docs/reference/scenarios.md lists them all"


def test_benches_and_examples_name_only_presets_that_exist() -> None:
    presets = set(preset_names())
    families = "|".join({name.partition("/")[0] for name in presets})
    files = [
        path
        for folder in ("bench", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".toml", ".yaml", ".yml", ".md")
    ]
    named = {
        name
        for path in files
        for name in re.findall(
            rf"""scenario["']?\s*[:=]\s*["']?((?:{families})/[a-z-]+)""", path.read_text("utf-8")
        )
    }

    assert "paper/server-error" in named
    assert named - presets == set()


def test_docs_hold_no_placeholder_line() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    match = [
        f"{page.relative_to(ROOT)}:{number}"
        for page in pages
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        if re.fullmatch(r"[A-Z]{4,}", line.strip())
    ]

    assert not match


def test_docs_and_sources_are_in_plain_words() -> None:
    clumsy = [
        f"{path.relative_to(ROOT)}:{text.count('\n', 0, turn.start()) + 1}: {turn[0]}"
        for path in (*PAGES, *SOURCES)
        if path.name != "CHANGELOG.md"
        for text in [path.read_text(encoding="utf-8")]
        for turn in CLUMSY.finditer(text)
    ]

    assert clumsy == []


def test_a_clumsy_turn_is_noticed_over_the_end_of_a_line() -> None:
    for text in (
        "it is no\n    folder",
        "a tool that there is not",
        "Likewise.",
        "made anew",
        "it is none",
    ):
        assert CLUMSY.search(text)
    for text in ("there is no folder", "it is no longer there", "it is not a folder", "x is None"):
        assert not CLUMSY.search(text)


def test_names_say_what_they_hold_or_do() -> None:
    vague = [
        f"{path.relative_to(ROOT)}: {line[0].strip()}"
        for path in (*SOURCES, *OTHER_CODE)
        for line in NAMES_IT.finditer(path.read_text(encoding="utf-8"))
        if BINDS_IT.search(line[0])
    ]

    assert vague == []


def test_a_vague_name_is_noticed_in_every_kind_of_binding() -> None:
    for line in ("found = 1", "for a, said in b:", "if (kept := b):", "lambda whole: 1"):
        assert BINDS_IT.search(f"    {line}")
    for line in ("def f(given: str) -> None:", "told: bool,", "except ValueError as gone:"):
        assert BINDS_IT.search(f"    {line}")
    for line in ("def _whole(self):", "class Said:", "_KEPT = 1", "self._held = b", "found: str"):
        assert BINDS_IT.search(f"    {line}")
    for line in ("f(found=1)", "What is found there:", "if kept == 1:", "held()", "held_s: int"):
        assert not BINDS_IT.search(f"    {line}")
