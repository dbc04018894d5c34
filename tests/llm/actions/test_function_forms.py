import pytest

from warex.llm.actions.guess import guess_actions, kind_of_action

_DEFINED = [
    ("go", "func again(page *rod.Page) error {\n    page.MustReload()\n}"),
    ("go", "again := func() {\n    page.MustReload()\n}"),
    ("go", "again := chromedp.Tasks{chromedp.Sleep(time.Second), chromedp.Reload()}"),
    ("go", "again := chromedp.Reload()"),
    ("java", "private void again() throws IOException {\n    driver.navigate().refresh();\n}"),
    ("java", "Runnable again = () -> driver.navigate().refresh();"),
    ("csharp", "static async Task again()\n{\n    await page.ReloadAsync();\n}"),
    ("csharp", "Func<Task> again = async () => await page.ReloadAsync();"),
    ("kotlin", "fun again() {\n    driver.navigate().refresh()\n}"),
    ("kotlin", "val again = { driver.navigate().refresh() }"),
    ("rust", "async fn again() -> WebDriverResult<()> {\n    driver.refresh().await\n}"),
    ("ruby", "def again\n  driver.navigate.refresh\nend"),
    ("ruby", "again = -> { driver.navigate.refresh }"),
    ("php", "function again() { $driver->navigate()->refresh(); }"),
    ("php", "$again = function () use ($driver) { $driver->navigate()->refresh(); };"),
    ("php", "$again = fn() => $driver->navigate()->refresh();"),
    ("swift", "func again() {\n    webView.reload()\n}"),
    ("js", "class Shop { async again() { await page.reload() } }"),
    ("js", "const shop = { again: () => page.reload() }"),
    ("js", "shop.again = async (page) => { await page.reload() }"),
    ("bash", "again() {\n  agent-browser reload\n}"),
    ("bash", "function again { agent-browser reload; }"),
]


def _kinds(language: str, source: str) -> list[str | None]:
    actions = guess_actions(f"```{language}\n{source}\n```", ())
    return [kind_of_action(it) for it in actions if it.context != "event"]


@pytest.mark.parametrize(("language", "defined"), _DEFINED)
def test_what_is_only_defined_is_not_read(language: str, defined: str) -> None:
    click = "agent-browser click @e2" if language == "bash" else 'page.click("#help");'

    assert _kinds(language, f"{defined}\n{click}") == ["click"]


@pytest.mark.parametrize(("language", "defined"), _DEFINED)
def test_what_is_defined_is_read_where_it_is_called(language: str, defined: str) -> None:
    call = {
        "bash": "again",
        "ruby": "again.call" if "->" in defined else "again",
        "php": "$again();" if "$again" in defined else "again();",
        "java": "again.run();" if "Runnable" in defined else "again();",
        "go": "chromedp.Run(ctx, again)" if "chromedp" in defined else "again()",
        "js": "await new Shop().again()" if "class" in defined else "await shop.again()",
    }.get(language, "again()")

    assert [it for it in _kinds(language, f"{defined}\n{call}") if it != "wait"] == ["reload"]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        (
            "go",
            "package main\n\nfunc main() {\n    again()\n}\n\nfunc again() {\n    p.Reload()\n}",
        ),
        (
            "java",
            "public class Shop {\n  @Test\n  public void track() {\n    driver.refresh();\n  }\n}",
        ),
        ("java", "class Shop {\n  public static void main(String[] args) { driver.refresh(); }\n}"),
        (
            "csharp",
            "class Shop\n{\n  [Fact]\n  public async Task Track() { page.ReloadAsync(); }\n}",
        ),
        ("kotlin", "fun main() {\n    driver.navigate().refresh()\n}"),
    ],
)
def test_a_main_function_and_a_test_run_by_themselves(language: str, source: str) -> None:
    assert _kinds(language, source) == ["reload"]


@pytest.mark.parametrize(
    "source",
    [
        "if (a) {\n    page.reload();\n} else if (b) {\n    page.reload();\n}",
        "new Shop() {\n};\npage.reload();\nreturn track(a) ;\npage.reload();",
    ],
)
def test_a_branch_or_a_call_is_no_definition(source: str) -> None:
    assert _kinds("java", source) == ["reload", "reload"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("language", ["java", "csharp", "go", "kotlin", "ruby", "php"])
@pytest.mark.parametrize(
    "fragment",
    [
        *("def a\n", "func a(", "@T\n", "@a ", "@a()\n", "a a(", "-> {", "->", "fn(", "\n", ".a{"),
        *("class a ", "a ", "public "),
    ],
)
def test_no_code_makes_reading_hang(language: str, fragment: str) -> None:
    _kinds(language, fragment * (11_900 // len(fragment)))
