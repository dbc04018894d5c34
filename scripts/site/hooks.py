"""What MkDocs does beyond its settings (mkdocs.yml): pages from outside ``docs``, and their links.

Needs the repository's root on Python's path, as ``python -m mkdocs`` has it.
"""

from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page
from scripts.distributions import repository_address
from scripts.site import faults, gallery, python_api
from scripts.site.files import file_pages
from scripts.site.links import SiteMap, site_links
from scripts.site.llms import LlmsPage, llms_txt
from scripts.site.notebooks import notebook_page

from warex.scenarios.presets import preset_names
from warex.version import VERSION

ROOT: Final = Path(__file__).parents[2]
_PROJECT: Final = {
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "changes.d/README.md": "project/changes.md",
    "testbed/README.md": "project/testbed.md",
}
"""Pages of the repository outside ``docs``, and where they are on the site."""
_NOTEBOOKS: Final = {
    f"docs/notebooks/{file.name}": f"notebooks/{file.stem}.md"
    for file in (ROOT / "docs/notebooks").glob("*.ipynb")
}
_SOURCES: Final = {page: source for source, page in {**_PROJECT, **_NOTEBOOKS}.items()}
_SECTIONS: Final = faults.split((ROOT / faults.SOURCE).read_text("utf-8"))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in ``docs``, or are written at the build."""
    written = {page: (ROOT / source).read_text("utf-8") for source, page in _PROJECT.items()}
    written |= {
        gallery.PAGE: gallery.gallery(preset_names()),
        python_api.PAGE: python_api.python_api(),
    }
    written |= _SECTIONS.pages
    shown_files, places = file_pages(ROOT)
    written |= shown_files
    written |= {page: notebook_page(ROOT / source) for source, page in _NOTEBOOKS.items()}
    for page in (*written, *(source.removeprefix("docs/") for source in _NOTEBOOKS)):
        if existing := files.get_file_from_path(page):
            files.remove(existing)
    for page, content in written.items():
        files.append(File.generated(config, page, content=content))
    address = repository_address()
    config.extra["site_map"] = SiteMap(
        {f"docs/{it.src_uri}": it.src_uri for it in files} | _PROJECT | _NOTEBOOKS | places,
        {faults.SOURCE: _SECTIONS.anchors},
        f"{address}/blob/v{VERSION}/" if address else None,
    )
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page for the site."""
    uri = page.file.src_uri
    source = _SOURCES.get(uri, faults.SOURCE if uri in _SECTIONS.pages else f"docs/{uri}")
    return site_links(markdown, source, uri, config.extra["site_map"])


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Keep the order of the pages for ``llms.txt``."""
    config.extra["nav"] = nav
    return nav


def on_post_build(config: MkDocsConfig) -> None:
    """Write ``llms.txt``, and each page's Markdown beside the page."""
    out = Path(config.site_dir)
    # mike adds the version without a slash behind it.
    base = f"{config.site_url.removesuffix('/')}/" if config.site_url else ""
    sections: dict[str, list[LlmsPage]] = {}
    for page in config.extra["nav"].pages:
        text = page.markdown or ""
        (out / page.file.src_uri).parent.mkdir(parents=True, exist_ok=True)
        (out / page.file.src_uri).write_text(text, "utf-8")
        url = f"{base}{page.file.src_uri}"
        sections.setdefault(_section(page), []).append(LlmsPage(str(page.title), url, text))
    (out / "llms.txt").write_text(llms_txt("WAREX", config.site_description or "", sections))


def _section(page: Page) -> str:
    sections = [item for item in page.ancestors if isinstance(item, Section)]
    return str(sections[-1].title) if sections else "Start"
