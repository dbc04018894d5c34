"""Split the reference of the faults into a page for each group, with pictures beside the text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from warex.faults.catalogue import catalogue, kind_of

SOURCE: Final = "docs/reference/faults.md"
INDEX: Final = "reference/faults.md"
"""The page of the site with all faults and what they share."""
PICTURES: Final = "reference/faults/pictures.md"
TITLES: Final[Mapping[str, str]] = {
    "connection": "Connections",
    "transport": "The transport",
    "server": "Servers and scripts",
    "walls": "Walls before a page",
    "popups": "Popups",
    "attacks": "Attacks",
    "lies": "Lies",
    "browser": "What the browser does",
    "variation": "Changed sites",
    "world": "A world that changes",
    "streams": "Messages of a channel",
    "llm": "Models",
    "mcp": "Tools",
}
"""The groups, in the order of the site. `scripts` has one fault, and stands with the servers."""
_SHARED: Final[Mapping[str, str]] = {
    "Connection faults": "connection",
    "Error pages": "server",
    "Lies": "lies",
    "Changed sites": "variation",
    "Faults of messages": "streams",
    "Faults of a model's API": "llm",
    "Faults of servers of tools": "mcp",
}
"""Sections that are about one group."""
_GROUP_PICTURES: Final = "../images/faults-{}.png"
"""The picture of a group's faults on one site, if there is one."""
_NOT_SEEN: Final = (
    "No picture shows these faults, since they are on no page: [`warex view`](../how-to/view.md)"
    " has what came, beside the steps of a trial.\n\n"
)
"""Stands on the page of a group without a picture."""
_SECTION: Final = re.compile(r"^## (.+)\n", re.MULTILINE)
_HEADING: Final = re.compile(r"^#{2,} (.+)$", re.MULTILINE)
_PICTURE: Final = re.compile(r"^!\[(.*)\]\((\S+)\)$", re.MULTILINE)
_KIND: Final = re.compile(r"`(\w+)`")


@dataclass(frozen=True)
class FaultPages:
    """Pages of the site by path, and the page of each anchor of the reference."""

    pages: Mapping[str, str]
    anchors: Mapping[str, str]


def group_page(group: str) -> str:
    """Return the path of a group's page on the site."""
    return f"reference/faults/{group}.md"


def group_of(fault_module: str) -> str:
    """Return the group of a fault, from the name of its module."""
    folder = fault_module.split(".")[2]
    return "server" if folder == "scripts" else folder


def split(reference: str) -> FaultPages:
    """Split the reference. Raises ValueError if a fault of the catalogue has no section."""
    groups = {kind_of(fault): group_of(fault.__module__) for fault in catalogue()}
    summaries = {kind_of(fault): fault.summary for fault in catalogue()}
    intro, *rest = _SECTION.split(reference)
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    if missing := [kind for kind in groups if f"`{kind}`" not in sections]:
        raise ValueError(f"{SOURCE} has no section of {', '.join(missing)}")
    pictures = dict(_pictures_by_kind(sections["In pictures"]))
    before = _picture_of(sections["In pictures"], "Before")
    bodies: dict[str, list[str]] = {INDEX: [intro]}
    shown = {group for kind, group in groups.items() if kind in pictures}
    sheets = {path: caption for caption, path in _PICTURE.findall(sections["In pictures"])}
    for group, title in TITLES.items():
        sheet = _GROUP_PICTURES.format(group)
        picture = f"![{sheets[sheet]}]({sheet})\n\n" if sheet in sheets else ""
        lead = picture or ("" if group in shown else _NOT_SEEN)
        bodies[group_page(group)] = [f"# {title}\n\n{lead}"]
    bodies[PICTURES] = []
    anchors: dict[str, str] = {}
    for heading, body in sorted(sections.items(), key=lambda item: item[0].startswith("`")):
        kind = heading.strip("`")
        group = groups.get(kind, _SHARED.get(heading, ""))
        page = group_page(group) if group else INDEX
        level = "##"
        if heading == "In pictures":
            page, level = PICTURES, "#"
        summary = f"\n{summaries[kind]}\n" if kind in summaries else ""
        after = _before_and_after(before, pictures.get(kind, ()))
        text = f"{level} {heading}\n{summary}{body}{after}"
        bodies[page].append(text)
        anchors |= dict.fromkeys(map(anchor_of, _HEADING.findall(text)), page)
    anchors["in-pictures"] = PICTURES
    table = "".join(
        f"| [{title}](faults/{group}.md) |"
        f" {' '.join(f'[`{kind}`](#{kind})' for kind in groups if groups[kind] == group)} |\n"
        for group, title in TITLES.items()
    )
    bodies[INDEX].insert(1, f"## By group\n\n| group | faults |\n| --- | --- |\n{table}\n")
    return FaultPages({page: "".join(body) for page, body in bodies.items()}, anchors)


def anchor_of(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _picture_of(text: str, caption: str) -> str:
    return next(match[2] for match in _PICTURE.finditer(text) if match[1] == caption)


def _pictures_by_kind(text: str) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    """Yield the pictures of each fault, with their captions; one without a kind is the last's."""
    kind = ""
    by_kind: dict[str, list[tuple[str, str]]] = {}
    for caption, path in _PICTURE.findall(text.partition("One site under more of them")[0]):
        if named := _KIND.match(caption):
            kind = named[1]
        if kind:
            by_kind.setdefault(kind, []).append((caption, path))
    yield from by_kind.items()


def _before_and_after(before: str, pictures: Sequence[tuple[str, str]]) -> str:
    return "".join(
        f"| before | {caption} |\n| --- | --- |\n| ![Before]({before}) | ![{caption}]({path}) |\n\n"
        for caption, path in pictures
    )
