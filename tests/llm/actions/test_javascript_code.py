import pytest

from warex.llm.actions.javascript_code import javascript_calls

type Calls = list[tuple[str, tuple[str, ...]]]


def _read(source: str) -> Calls:
    return [(call.full_name, call.arguments) for call in javascript_calls(source) or ()]


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("await page.goto('a')", [("page.goto", ("a",))]),
        ("const u = 'a'; await page.goto(`${u}/b`)", [("page.goto", ("a/b",))]),
        ("let u = 'a' + '/b'; fetch(u)", [("fetch", ("a/b",))]),
        ("const u = page.url(); page.goto(u)", [("page.url", ()), ("page.goto", ("page.url()",))]),
        ("async (page) => { await page.reload(); }", [("page.reload", ())]),
        ("() => location.reload()", [("location.reload", ())]),
        (
            "test.step({body: () => page.goto('a')})",
            [("page.goto", ("a",)), ("test.step", ("{ body: () => page.goto('a') }",))],
        ),
        ("const steps = {again: () => page.reload()}", []),
        ("const goto = u => log(u); await page.reload()", [("page.reload", ())]),
        ("location.href = 'a'", [("location.href", ("a",))]),
        ("window.location = 'a'", [("window.location.href", ("a",))]),
        (
            "document.querySelector('#x').click()",
            [("document.querySelector", ("#x",)), ("document.querySelector.click", ("#x",))],
        ),
        ("page?.click('a')", [("page.click", ("a",))]),
        (
            "async function go(u: string) { await page.goto(u) }\nawait go('a')",
            [("page.goto", ("a",))],
        ),
        ("const go = async u => page.goto(u); go('a')", [("page.goto", ("a",))]),
        ("(async () => { await page.goto('a') })()", [("page.goto", ("a",))]),
        ("function never() { page.reload() }", []),
        ("go('a'); function go(u) { page.goto(u) }", [("page.goto", ("a",))]),
        ("const reload = () => page.reload(); reload()", [("page.reload", ())]),
        ("new Actions(d).keys('a')", [("Actions.keys", ("d", "a"))]),
    ],
)
def test_names_are_bound_and_calls_are_read_in_order(source: str, calls: Calls) -> None:
    assert _read(source) == calls


@pytest.mark.parametrize(
    ("source", "context"),
    [
        ("visit()", ""),
        ("try { visit() } catch (e) {}", ""),
        ("try { } catch (e) { visit() }", "handler"),
        ("for (let i = 0; i < 3; i++) { try { visit() } catch (e) {} }", "loop"),
        ("if (a) visit()", "branch"),
        ("p.on('crash', () => { for (const a of b) visit() })", "event"),
        ("const f = () => visit(); p.once('crash', f)", "event"),
        ("p.Crash += (_, e) => visit()", "event"),
        ("p.then(() => visit())", ""),
    ],
)
def test_a_call_has_its_context(source: str, context: str) -> None:
    calls = javascript_calls(source) or ()

    assert [call.context for call in calls if call.name == "visit"] == [context]


@pytest.mark.parametrize("source", ["Well then, that is prose.", "x" * 50_000])
def test_what_is_not_javascript_is_not_read(source: str) -> None:
    assert javascript_calls(source) is None


def test_functions_that_call_themselves_come_to_an_end() -> None:
    assert javascript_calls("const f = () => { f(); f(); f() }; f()") == ()


def test_an_address_that_is_set_as_an_element_s_source_is_read_as_a_call() -> None:
    (call,) = javascript_calls("const i = new Image()\ni.src = '/map.png?' + n") or ()

    assert (call.full_name, call.arguments) == ("i.src", ("'/map.png?' + n",))


def test_a_method_names_the_class_of_its_object() -> None:
    calls = javascript_calls("let r = new XMLHttpRequest(); r.open('GET', '/a'); r = b; r.send()")

    assert [call.module for call in calls or ()] == ["XMLHttpRequest", ""]


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ("const b = page.locator('#again'); await b.click()", ("#again",)),
        ("const [b] = await page.$$('#again'); await b.click()", ("#again",)),
        ("let b = page.locator('#again'); b = other; b.click()", ()),
    ],
)
def test_an_element_bound_to_a_name_is_known_by_what_found_it(
    source: str, arguments: tuple[str, ...]
) -> None:
    assert _read(source)[-1] == ("b.click", arguments)


def test_a_branch_that_is_never_taken_is_not_read() -> None:
    assert _read("if (false) { a() } else { b() }") == [("b", ())]


def test_a_timer_calls_a_function_after_the_code_unless_it_is_awaited() -> None:
    assert _read("setTimeout(() => a(), 9); b()")[-2:] == [("b", ()), ("a", ())]
    assert _read("await new Promise(() => setTimeout(() => a(), 9)); b()")[-1] == ("b", ())


@pytest.mark.timeout(8)  # 0.2 s, and 17 s without the limit.
@pytest.mark.parametrize("repeated", ["->", "=>", "`${", "{${", "f(", "/a"])
def test_code_that_the_parser_cannot_repair_soon_is_not_read(repeated: str) -> None:
    assert not _read(repeated * (12_000 // len(repeated)))
    assert _read("page.reload()") == [("page.reload", ())]
