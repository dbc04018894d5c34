"""The hard test: matched pairs of a failed and a clean page, which no count of words tells apart.

A pair is made of one page of the testbed and the link or button that the agent needs there. Both
pages have the same address, title, goal, history, number of elements, roles and words, as often:
on the failed page the needed name is plain text beside a control that loads it again, on the clean
one it can be used and the words of the control are plain text. Half of the pairs keep the content
of the page, half show a short page. ``python -m bench hard-test`` makes the file of rows.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Final
from zlib import crc32

from pydantic import BaseModel

from warex.exports.dataset import Dataset, DatasetManifest
from warex.exports.rows import ChatMessage, Row
from warex.llm.actions.vocabulary import Vocabulary
from warex.seeds import draw

FILE: Final = "hard_test.json"
PAIRS_PER_SITE: Final = 8
_TREE: Final = re.compile(r"(?<=Accessibility tree:\n).*?(?=\n\n# History)", re.DOTALL)
_TITLE: Final = re.compile(r"(?<=\nTitle: )[^\n]*")
_CLICK: Final = re.compile(r"click\('(\d+)'\)")
_ELEMENT: Final = re.compile(r"(?P<role>link|button) (?P<name>'[^'\n]+') \[(?P<id>\d+)\]")
_ID: Final = re.compile(r"(?<= )\[\d+\](?=$| )")
_LEAST: Final = 8
"""Lines of a page that has content."""
_WITH_CONTENT: Final = "lie"
"""The category of the fault of a failed page that keeps its content."""
_NOTICES: Final = (
    ("500 Internal Server Error", "The server met an error and could not answer.", "Reload"),
    ("502 Bad Gateway", "The gateway got no valid answer from the server.", "Try again"),
    ("503 Service Unavailable", "The service is busy at this moment.", "Retry"),
    ("504 Gateway Timeout", "The server took too long to answer.", "Reload page"),
    ("Something went wrong", "This part of the page could not be loaded.", "Try again"),
    ("Oh dear!", "It is not you, it is us. Our people are on to it.", "Refresh"),
    ("This site can't be reached", "The connection was reset.", "Reload"),
    ("Application error", "An unexpected error occurred.", "Try again"),
    ("Down for maintenance", "We will be back in a few minutes.", "Refresh"),
    ("Failed to fetch", "The network connection was lost.", "Retry"),
)
"""Title, sentence and control of what is shown in place of what failed."""


class HardTestFile(BaseModel, frozen=True, extra="forbid"):
    """The rows with the vocabulary of their agent."""

    made_by: str
    vocabulary: Vocabulary
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Page:
    """A page with the line of the element that its agent needs."""

    lines: tuple[str, ...]
    at: int
    role: str
    name: str


def read_hard_test() -> Dataset:
    """Return the test as a data set whose rows are all of the split ``test``."""
    resource = files(__package__) / FILE
    file = HardTestFile.model_validate_json(resource.read_text(encoding="utf-8"))
    vocabularies = {row.vocabulary: file.vocabulary for row in file.rows}
    manifest = DatasetManifest(format="sft", made_by=file.made_by, vocabularies=vocabularies)
    return Dataset(Path(str(resource)), manifest, {"test": file.rows})


def sample_pairs(rows: Sequence[Row], most: int | None, seed: int = 0) -> list[Row]:
    """Return both rows of up to ``most`` pairs (None: all), drawn by seed, in order.

    The pairs are drawn alternately from those whose failed page has content and from the others,
    so that the trivial baselines stay as near chance as on all pairs. Larger samples contain
    smaller ones.
    """
    failures = [row for row in rows if row.kind == "failure"]
    drawn = sorted(failures, key=lambda row: draw(seed, "hard test", row.trial))
    has_content = [row.trial for row in drawn if row.category == _WITH_CONTENT]
    others = [row.trial for row in drawn if row.category != _WITH_CONTENT]
    alternating = [it for both in zip_longest(has_content, others) for it in both if it is not None]
    chosen = set(alternating[:most])
    return [row for row in rows if row.trial in chosen]


def matched_pairs(clean: Sequence[Row]) -> Iterator[Row]:
    """Yield both rows of each pair that clean rows of the compact reference agent give.

    Up to ``PAIRS_PER_SITE`` of each site, every other one without the page's content. The same rows
    give the same pairs.
    """
    number = 0
    ordered = sorted(clean, key=lambda row: (row.site, crc32(f"{row.task} {row.step}".encode())))
    for _, rows in groupby(ordered, key=lambda row: row.site):
        pages = [(row, page) for row in rows if (page := _page(row)) is not None]
        for row, page in pages[:PAIRS_PER_SITE]:
            yield from _pair(row, page, number)
            number += 1


def _page(row: Row) -> _Page | None:
    """Return a row's page; None if its action does not click the one link or button of a name."""
    text = _user_text(row)
    tree, wanted = _TREE.search(text), _CLICK.search(str(row.answer.get("content")))
    if tree is None or wanted is None:
        return None
    lines = tuple(tree[0].split("\n"))
    elements = [_ELEMENT.search(line) for line in lines]
    at = next((at for at, it in enumerate(elements) if it and it["id"] == wanted[1]), None)
    if at is None or len(lines) < _LEAST:
        return None
    needed = elements[at]
    if needed is None or sum(needed["name"] in line for line in lines) > 1:
        return None
    return _Page(lines, at, needed["role"], needed["name"])


def _pair(row: Row, page: _Page, number: int) -> Iterator[Row]:
    title, sentence, control = _NOTICES[number % len(_NOTICES)]
    has_content = number % 2 == 0
    category = _WITH_CONTENT if has_content else "failure"
    for kind in ("failure", "clean"):
        usable, shown = (f"'{control}'", page.name)[:: 1 if kind == "failure" else -1]
        block = (
            f"heading {title!r}",
            f"StaticText {sentence!r}",
            f"StaticText {shown}",
            f"{page.role} {usable} [0]",
        )
        before, after = page.lines[: page.at], page.lines[page.at + 1 :]
        lines = (*before, *block, *after) if has_content else block
        tree, ids = _numbered(lines)
        around = _TREE.split(_user_text(row), maxsplit=1)
        if not has_content:
            around[0] = _TITLE.sub(title, around[0])
        text = tree.join(around)
        place = lines.index(block[-1])
        answer = "reload()" if kind == "failure" else f"click('{ids[place]}')"
        yield row.model_copy(
            update={
                "id": f"hard-{number:03}-{kind}",
                "kind": kind,
                "action": "reload" if kind == "failure" else "click",
                "condition": "hard",
                "fault": ("soft_error" if has_content else "http_error") * (kind == "failure"),
                "category": category * (kind == "failure"),
                "run": "hard",
                "trial": f"pair-{number:03}",
                "messages": [
                    *row.prompt[:-1],
                    _message("user", text),
                    _message("assistant", answer),
                ],
            }
        )


def _numbered(lines: Sequence[str]) -> tuple[str, dict[int, int]]:
    """Return a tree whose ids count from 1, and the id on each line that has one."""
    ids: dict[int, int] = {}
    numbered: list[str] = []
    for at, line in enumerate(lines):
        if _ID.search(line):
            ids[at] = len(ids) + 1
        numbered.append(_ID.sub(f"[{ids.get(at)}]", line))
    return "\n".join(numbered), ids


def _user_text(row: Row) -> str:
    return str(row.prompt[-1].get("content"))


def _message(role: str, content: str) -> ChatMessage:
    return {"role": role, "content": content}
