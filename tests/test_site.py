"""The documentation site: its links, its pages of faults, its index for models."""

import re
from pathlib import Path

import pytest
from scripts.site.faults import INDEX, TITLES, group_page, split
from scripts.site.files import file_pages
from scripts.site.gallery import gallery
from scripts.site.links import SiteMap, site_links
from scripts.site.llms import LlmsPage, llms_txt
from scripts.site.python_api import python_api

from warex.faults.catalogue import catalogue, kind_of

ROOT = Path(__file__).parents[1]
REFERENCE = (ROOT / "docs/reference/faults.md").read_text("utf-8")
SITE = SiteMap(
    {"docs/how-to/exec.md": "how-to/exec.md", "SECURITY.md": "project/security.md"},
    {"docs/reference/faults.md": {"popup": "reference/faults/popups.md"}},
    "https://forge.example/blob/v1/",
)


def test_docs_the_site_leads_to_every_page() -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    listed = set(re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", settings, re.MULTILINE))
    docs = ROOT / "docs"
    pages = {str(path.relative_to(docs)) for path in docs.rglob("*.md")}
    pages -= {page for page in pages if page.startswith("decisions/0")}

    assert pages - listed == set(), "put it into the nav of mkdocs.yml"


def links(markdown: str, page: str = "reference/cli.md", site: SiteMap = SITE) -> str:
    return site_links(markdown, f"docs/{page}", page, site)


def test_a_link_to_a_page_outside_docs_leads_to_its_page_on_the_site() -> None:
    assert links("[x](../../SECURITY.md#keys)") == "[x](../project/security.md#keys)"
    assert links("[x](../how-to/exec.md)") == "[x](../how-to/exec.md)"


def test_a_link_to_a_section_leads_to_the_page_that_has_it() -> None:
    assert links("[`popup`](faults.md#popup)") == "[`popup`](faults/popups.md#popup)"
    page = site_links("[x](#popup)", "docs/reference/faults.md", "reference/faults/llm.md", SITE)
    assert page == "[x](popups.md#popup)"


def test_a_link_to_a_section_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"faults\.md#nope, which does not exist"):
        links("[x](faults.md#nope)")


def test_a_link_to_another_file_leads_to_the_repository_or_nowhere() -> None:
    markdown = "see [the `code`](../../src/warex/api.py)"

    assert links(markdown) == "see [the `code`](https://forge.example/blob/v1/src/warex/api.py)"
    assert links(markdown, site=SiteMap({})) == "see the `code`"


def test_addresses_anchors_and_code_stay() -> None:
    markdown = "[x](https://a.example/b) [y](#here)\n\n```text\n[z](../../SECURITY.md)\n```\n"

    assert links(markdown) == markdown


def test_every_fault_has_one_section_on_a_page_of_its_group() -> None:
    pages = split(REFERENCE).pages
    groups = [text for page, text in pages.items() if page in map(group_page, TITLES)]

    for kind in map(kind_of, catalogue()):
        assert sum(f"\n## `{kind}`\n" in text for text in groups) == 1, kind


def test_every_group_has_a_picture_or_says_why_it_has_none() -> None:
    pages = split(REFERENCE).pages

    for group in TITLES:
        text = pages[group_page(group)]
        assert ("![" in text) != ("No picture shows these faults" in text), group


def test_splitting_the_faults_loses_no_paragraph() -> None:
    parts = split(REFERENCE)
    text = "\n".join(parts.pages.values())

    lost = [each for each in REFERENCE.split("\n\n") if each.strip("# \n") not in text]
    assert not lost
    assert parts.anchors["what-counts-as-seen"] == INDEX


def test_a_fault_without_a_section_stops_the_build() -> None:
    with pytest.raises(ValueError, match="has no section of popup_blocked"):
        split(REFERENCE.replace("## `popup_blocked`", "## `other`"))


def test_a_fault_of_a_page_is_shown_before_and_after() -> None:
    popups = split(REFERENCE).pages[group_page("popups")]

    assert "| ![Before](../images/pages/before.webp) | ![`popup`](../images/pages/popup" in popups
    assert "fake_site.webp" in popups


def test_the_gallery_shows_a_preset_in_words_and_as_a_file() -> None:
    page = gallery(["paper/server-error"])

    assert "\n## paper\n\n### paper/server-error\n\nThe first page" in page
    assert "| Which are hit | the first one; after that the site is healthy again |" in page
    assert "Faults: [`http_error`](faults.md#http_error)" in page
    assert "    fault: {kind: http_error, status: 500}\n" in page


def test_the_api_page_names_each_public_name() -> None:
    assert "::: warex.intercept\n" in python_api()
    assert "::: warex.load_run\n" in python_api()
    assert "::: warex.rl.SessionFactory\n" in python_api()
    assert "::: warex.rl.testbed.TestbedTasks\n" in python_api()


def test_the_index_for_models_says_in_a_sentence_what_a_page_is_about() -> None:
    page = LlmsPage("Exec", "how-to/exec.md", "# Exec\n\n```sh\nx\n```\n\nRun [it](a.md). Then.\n")

    written = llms_txt("WAREX", "Faults.", {"How to": [page]})

    assert written == "# WAREX\n\n> Faults.\n\n## How to\n\n- [Exec](how-to/exec.md): Run it.\n"


def test_every_example_that_a_page_links_to_is_shown_on_the_site() -> None:
    pages, places = file_pages(ROOT)
    linked = {
        str((path.parent / target).resolve().relative_to(ROOT))
        for path in (ROOT / "docs").rglob("*.md")
        for target in re.findall(
            r"\]\(((?:\.\./)+(?:examples|docker|action)[^)#]*)", path.read_text()
        )
    }

    assert linked - places.keys() == set()
    assert {places[it] for it in linked} <= pages.keys()
    assert (ROOT / "examples/ci/campaign.toml").read_text().strip() in pages["files/ci.md"]
