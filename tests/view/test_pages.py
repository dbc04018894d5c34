"""The viewer in a real browser: every view, by keyboard, in every light and width, and hostile."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.view.browsing import open_page, serving
from warex.analysis.run.load import load_run
from warex.report.html.page import write_report
from warex.view.documents import Documents
from warex.view.static_site import write_static_site

pytestmark = pytest.mark.browser

ATTACK = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
)


def steps(story: Story, *names: str) -> Story:
    for number, name in enumerate(names, 1):
        page = [{"role": "user", "content": f"[{number}] {name} {ATTACK}"}]
        story.thinks(number, "click", arguments=[str(number)], messages=page)  # type: ignore[arg-type]
        story.page(f"x{number}", f"https://shop.example/{name}?q={ATTACK}")
    return story


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of hostile texts: in prompts, addresses, answers, and in a task's name."""
    path = tmp_path_factory.mktemp("run")
    folder = RunFolder(path).manifest()
    task = "add <b>it</b>"
    folder.trial("clean", task, solved(), steps(Story(), "list", "cart", "pay").stops())
    faulted = steps(Story(), "list").fault(1)
    faulted.thinks(2, "report_infeasible", arguments=[ATTACK])
    folder.trial("server-error", task, failed(2.0, ATTACK), faulted.stops())
    return path


@pytest.fixture(scope="module")
def server(run: Path) -> Iterator[str]:
    with serving(run) as address:
        yield address


def walk_through(page: Page) -> None:
    """Go from the run to the failed trial's failing step, and to the pair: three clicks."""
    page.get_by_role("link", name="failed").click()
    expect(page.get_by_role("heading", name="Step 2")).to_be_visible()
    expect(page.get_by_role("heading", name="add <b>it</b>")).to_be_visible()
    page.get_by_role("button", name="i1 http_error by rule").click()
    expect(page.get_by_role("heading", name="http_error")).to_be_visible()
    page.get_by_role("link", name="compare with the clean twin").click()
    expect(page.get_by_role("heading", name="add <b>it</b>")).to_be_visible()
    expect(page.get_by_text("They diverge at step 2, after 1 equal step")).to_be_visible()
    expect(page.locator(".pair-line.first")).to_contain_text("report_infeasible")


def test_a_static_folder_works_without_a_server_or_scripts_of_the_run(
    browser: Browser, run: Path, tmp_path: Path
) -> None:
    write_static_site(Documents([run]), tmp_path)
    page = open_page(browser, (tmp_path / "index.html").as_uri())
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))

    walk_through(page)

    expect(page).to_have_title("WAREX")
    assert problems == []
    page.close()


@pytest.mark.slow
def test_a_report_links_to_the_pages_beside_it(browser: Browser, run: Path) -> None:
    write_static_site(Documents([run]), run / "view")
    page = open_page(browser, write_report(load_run(run)).as_uri())

    page.get_by_role("link", name="failure").click()

    expect(page.get_by_role("heading", name="Step 2")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/view/index\.html#/trial/0/"))
    page.close()


@pytest.mark.slow
def test_the_server_shows_every_view_with_working_keys(browser: Browser, server: str) -> None:
    page = open_page(browser, server)
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))

    walk_through(page)
    page.locator(".pair-line.first a").last.click()
    expect(page.locator(".event.on")).to_contain_text("step 2")
    page.keyboard.press("k")
    expect(page.locator(".event.on")).to_contain_text("fault i1")
    expect(page.get_by_role("heading", name="http_error")).to_be_visible()
    page.get_by_text("The plan as recorded").click()
    expect(page.get_by_text('"fault_planned"')).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("cart")
    expect(page.locator(".event")).to_have_count(0)
    page.get_by_role("link", name="run", exact=True).click()
    expect(page.locator("a.cell")).to_have_count(2)
    page.keyboard.press("/")
    page.keyboard.type("report_infeasible")
    page.keyboard.press("Enter")
    expect(page.locator("a.cell")).to_have_count(1)
    page.get_by_label("search").fill("")
    page.keyboard.press("Enter")
    expect(page.locator("a.cell")).to_have_count(2)
    page.get_by_role("combobox", name="fault").select_option("http_error")
    expect(page.locator("a.cell")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()

    expect(page).to_have_title("WAREX")
    assert problems == []
    page.close()


@pytest.mark.slow
def test_the_tasks_stay_in_sight_beside_many_columns(browser: Browser, server: str) -> None:
    page = open_page(browser, server, 200)
    expect(page.locator("a.cell")).to_have_count(2)

    page.get_by_role("link", name="failed").scroll_into_view_if_needed()

    expect(page.get_by_role("link", name="failed")).to_be_in_viewport(ratio=1)
    expect(page.locator(".tasks .all .name")).to_be_in_viewport(ratio=0.9)
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1300, 3840])
def test_every_view_is_accessible_and_fits(
    browser: Browser, server: str, scheme: str, width: int
) -> None:
    page = open_page(browser, server, width, scheme)
    axe = Axe()
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}

    def check() -> None:
        result = axe.run(page, options=options)
        assert len(result.response["passes"]) > 10
        assert result.violations_count == 0, result.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    expect(page.locator("a.cell").first).to_be_visible()
    check()
    page.get_by_role("link", name="failed").click()
    expect(page.get_by_role("heading", name="Step 2")).to_be_visible()
    check()
    page.get_by_role("link", name="compare with the clean twin").click()
    expect(page.locator(".pair-line.first")).to_be_visible()
    check()
    page.close()
