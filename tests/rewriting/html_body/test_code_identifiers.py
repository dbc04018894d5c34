import pytest

from warex.rewriting.html_body.code_identifiers import CodeIdentifiers

SCRIPT = """const box = document.getElementById("price-box");
for (const at of rows) document.querySelector(`#line-${at}`).hidden = !rows["item" + at];
$("[class*=icon]").on("click", (event) => show(event, id + "-panel"));"""
STYLE = r".sm\:wide, .card > .title { color: red } @media (min-width: 1px) { .note {} }"


@pytest.fixture
def read() -> CodeIdentifiers:
    mentions = CodeIdentifiers()
    mentions.add(SCRIPT)
    mentions.add(STYLE)
    return mentions


@pytest.mark.parametrize(
    "name",
    ["price-box", "line-7", "item3", "item-3", "top-icon-2", "first-panel", "sm:wide", "title", ""],
)
def test_a_name_that_is_said_or_may_be_put_together_is_mentioned(
    read: CodeIdentifiers, name: str
) -> None:
    assert read.has(name)


@pytest.mark.parametrize("name", ["price", "lines", "footer-links", "md:wide", "x1", "\u00fcber"])
def test_no_other_name_is_mentioned(read: CodeIdentifiers, name: str) -> None:
    assert not read.has(name)


def test_what_is_read_later_counts_too(read: CodeIdentifiers) -> None:
    assert not read.has("late")
    read.add("window.late = 1")
    assert read.has("late")


def test_a_text_that_is_given_again_is_read_once(read: CodeIdentifiers) -> None:
    before = read.characters
    read.add(SCRIPT)
    assert read.characters == before == len(SCRIPT) + len(STYLE)
