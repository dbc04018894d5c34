"""The browser's active tab: observes the page, performs actions, waits until it has settled."""

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Any

from playwright.async_api import (
    BrowserContext,
    CDPSession,
    Dialog,
    Error,
    Frame,
    Locator,
    Page,
    Request,
    async_playwright,
)

from warex.agents.reference import axtree, chromium
from warex.agents.reference.actions import Action
from warex.agents.reference.compact import compact
from warex.agents.reference.prompt import Observation, one_line

QUIET = 0.1
"""Seconds without a request or a navigation after which a page counts as settled."""

BUSY = 5.0
"""Seconds at most that a page's own requests are waited for once it is loaded."""

ACTION_TIMEOUT = 5.0
"""Seconds that an element may take to become usable, and that the page may take to be read."""

LONGEST_TREE = 60_000
"""Characters of the accessibility tree that are shown."""

_HINTS = ("intercepts pointer", "is not ", "outside of the viewport", "did not find some options")
_MARK = "data-agent-target"
_WAITED_FOR = frozenset({"document", "script", "stylesheet", "xhr", "fetch"})


class ActionFailed(Exception):
    """An action failed; the message, one line, is for the model."""


class Tab:
    """The newest tab of a fresh browser profile, driven by accessibility tree ids."""

    def __init__(self, context: BrowserContext, step_timeout: float) -> None:
        """Follow a context's pages; `step_timeout` in seconds bounds every wait for a page."""
        self._context = context
        self._step_timeout = step_timeout
        self._page: Page | None = None
        self._cdp: CDPSession | None = None
        self._elements: dict[str, tuple[CDPSession, int]] = {}
        self._marks = 0
        self._notes: list[str] = []
        self._changed = asyncio.Event()
        self._in_flight: set[Request] = set()
        self._navigating: Request | None = None
        self._announced = False
        context.on("page", self._adopt)

    @property
    def page(self) -> Page:
        """The active page."""
        if self._page is None or self._page.is_closed():
            raise Error("the last page was closed")
        return self._page

    async def open(self, url: str) -> None:
        """Open the first page; a failure to load becomes a note of the next observation."""
        self._adopt(await self._context.new_page())
        try:
            await self.act(Action("goto", (url,)))
        except ActionFailed as error:
            self._notes.append(str(error))

    # Observations

    async def observe(
        self, *, screenshot: bool = False, compact_for: str | None = None
    ) -> Observation:
        """Return the page, loaded or not; with a goal in ``compact_for``, only what matters for it.

        Raises playwright's Error if the browser itself is gone.
        """
        cdp = await self._listen()
        url, title = self.page.url, ""
        with suppress(TimeoutError):
            # The history has the address of a page that could not be loaded.
            history = await _wait_for_answer(cdp.send("Page.getNavigationHistory"))
            entry = history["entries"][history["currentIndex"]]
            url, title = entry["url"], entry["title"]
        tree = await self._tree(compact_for)
        notes, self._notes = tuple(self._notes), []
        picture = await self._screenshot() if screenshot else None
        return Observation(url, title, tree, notes, picture)

    async def _tree(self, compact_for: str | None) -> str:
        self._elements = {}
        shown: list[str] = []
        try:
            for session, lines in await _wait_for_answer(self._frames()):
                for line in lines if compact_for is None else compact(lines, compact_for):
                    number = ""
                    if line.backend_id is not None:
                        number = str(len(self._elements) + 1)
                        self._elements[number] = (session, line.backend_id)
                    shown.append(axtree.written(line, number, id_last=compact_for is not None))
        except TimeoutError:
            shown.append("(The page did not answer in time; this is not all of it.)")
        except Error as error:
            if self.page.is_closed():
                raise
            shown.append(f"(The page cannot be read: {_first_line(error)})")
        text = "\n".join(shown) or "(The page is empty.)"
        if len(text) > LONGEST_TREE:
            text = text[:LONGEST_TREE].rpartition("\n")[0] + "\n(The tree was cut here.)"
        return text

    async def _frames(self) -> list[tuple[CDPSession, list[axtree.Line]]]:
        """Return each frame's tree: those of the page's own process, then the others'."""
        cdp = await self._listen()
        trees = await self._trees(cdp)
        for frame in self.page.frames[1:]:
            # Only a frame in another process has a session of its own; for others this raises.
            with suppress(Error):
                trees += await self._trees(await self._context.new_cdp_session(frame))
        return trees

    async def _trees(self, cdp: CDPSession) -> list[tuple[CDPSession, list[axtree.Line]]]:
        trees: list[tuple[CDPSession, list[axtree.Line]]] = []
        waiting = [(await cdp.send("Page.getFrameTree"))["frameTree"]]
        for tree in waiting:
            frame = {"frameId": tree["frame"]["id"]}
            nodes = (await cdp.send("Accessibility.getFullAXTree", frame))["nodes"]
            trees.append((cdp, list(axtree.lines(nodes))))
            waiting += tree.get("childFrames", ())
        return trees

    async def _screenshot(self) -> str | None:
        with suppress(Error):
            image = await self.page.screenshot(timeout=ACTION_TIMEOUT * 1000)
            return base64.b64encode(image).decode()
        return None

    # Actions

    async def act(self, action: Action) -> None:
        """Perform an action and wait until the page has settled.

        Raises ActionFailed if it fails or a page it opened does not load, playwright's Error if the
        browser itself is gone.
        """
        end = asyncio.get_running_loop().time() + self._step_timeout
        try:
            await self._do(action)
        except Error as error:
            if self._page is None or self._page.is_closed():
                raise
            raise ActionFailed(f"{action.name}: {_reason(error)}") from None
        finally:
            with suppress(Error):
                await self._settle(end)

    async def _do(self, action: Action) -> None:
        wait = self._step_timeout * 1000
        match action.name:
            case "goto":
                await self.page.goto(action.text(0), wait_until="commit", timeout=wait)
            case "go_back":
                await self.page.go_back(wait_until="commit", timeout=wait)
            case "reload":
                await self.page.reload(wait_until="commit", timeout=wait)
            case "noop":
                await asyncio.sleep(min(max(action.number(0, 1000), 0) / 1000, self._step_timeout))
            case "scroll":
                await self.page.mouse.wheel(action.number(0), action.number(1))
            case _:
                async with self._element(action.text(0)) as element:
                    await self._do_to(element, action)

    async def _do_to(self, element: Locator, action: Action) -> None:
        wait = ACTION_TIMEOUT * 1000
        # no_wait_after: ``_settle`` waits for a held navigation, with a longer limit.
        match action.name:
            case "click":
                await element.click(timeout=wait, no_wait_after=True)
            case "fill":
                await element.fill(action.text(1), timeout=wait, no_wait_after=True)
            case "select_option":
                label = action.text(1)
                await element.select_option(label=label, timeout=wait, no_wait_after=True)
            case "press":
                await element.press(action.text(1), timeout=wait, no_wait_after=True)

    @asynccontextmanager
    async def _element(self, number: str) -> AsyncIterator[Locator]:
        """Yield a locator of an element of the last observation.

        Locators do not know the ids of the Chrome DevTools Protocol, so the element carries a mark.
        """
        if number not in self._elements:
            raise ActionFailed(f"There is no element with the id {number!r} on this page.")
        cdp, backend_id = self._elements[number]
        try:
            node = await _wait_for_answer(
                cdp.send("DOM.resolveNode", {"backendNodeId": backend_id})
            )
            handle = node["object"]["objectId"]
            self._marks += 1
            mark = f"this.setAttribute('{_MARK}', '{self._marks}')"
            await _call(cdp, handle, f"function() {{ {mark} }}")
            locator = await self._marked(f"[{_MARK}='{self._marks}']")
        except (Error, TimeoutError):
            raise ActionFailed(f"The element {number} is no longer on the page.") from None
        try:
            yield locator
        finally:
            # A navigation removes the mark, and would block this call.
            if self._navigating is None:
                with suppress(Error, TimeoutError):
                    await _call(cdp, handle, f"function() {{ this.removeAttribute('{_MARK}') }}")

    async def _marked(self, selector: str) -> Locator:
        for frame in self.page.frames:
            locator = frame.locator(selector)
            count: int = await _wait_for_answer(locator.count())
            if count:
                return locator.first
        raise Error("not found")

    # Settling

    async def _settle(self, end: float) -> None:
        """Wait for a navigation, then until the page is quiet; `end` is in the loop's time."""
        cdp = await self._listen()
        await self._wait(cdp, end)
        if self._navigating is not None:
            # Nothing can be read during a navigation, so stop it.
            with suppress(Error, TimeoutError):
                await _wait_for_answer(cdp.send("Page.stopLoading"))
            self._navigating = None
            self._notes.append("The page that was asked for did not come in time.")

    async def _wait(self, cdp: CDPSession, end: float) -> None:
        clock = asyncio.get_running_loop().time
        if clock() >= end:
            return
        # The renderer announces a navigation before it answers this.
        with suppress(Error, TimeoutError):
            turn = {"expression": "new Promise(r => setTimeout(r, 0))", "awaitPromise": True}
            await _wait_for_answer(cdp.send("Runtime.evaluate", turn), 2.0)
        calm_by = clock() + BUSY
        while (now := clock()) < end:
            self._changed.clear()
            if self._navigating is not None:
                await self._change(end - now)
                calm_by = clock() + BUSY
            elif self._announced:
                # Announced but never begun: a mail address, a script, a download.
                self._announced = await self._change(2.0) and self._announced
            elif not await self._loaded(end - now):
                continue
            elif clock() > calm_by or not await self._change(BUSY if self._in_flight else QUIET):
                return

    async def _loaded(self, limit: float) -> bool:
        """Wait for the document; False if another navigation began meanwhile."""
        with suppress(Error):
            await self.page.wait_for_load_state("domcontentloaded", timeout=limit * 1000)
        return self._navigating is None

    async def _change(self, limit: float) -> bool:
        try:
            await asyncio.wait_for(self._changed.wait(), limit)
        except TimeoutError:
            return False
        return True

    # Events of the browser

    def _adopt(self, page: Page) -> None:
        if page is self._page:
            return
        self._page, self._cdp = page, None
        self._in_flight.clear()
        self._navigating, self._announced = None, False
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_request_end)
        page.on("requestfailed", self._on_request_end)
        page.on("framenavigated", self._on_navigated)
        page.on("dialog", self._on_dialog)
        page.on("close", self._on_close)
        self._changed.set()

    async def _listen(self) -> CDPSession:
        """Return the session of the active page, made on first use."""
        if self._cdp is None:
            page = self.page
            cdp = await self._context.new_cdp_session(page)
            main = (await cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]

            def announced(event: dict[str, Any]) -> None:
                here = event.get("disposition", "currentTab") == "currentTab"
                if event["frameId"] == main and here and page is self._page:
                    self._announced = True
                    self._changed.set()

            cdp.on("Page.frameRequestedNavigation", announced)
            cdp.on("Page.frameScheduledNavigation", announced)
            await cdp.send("Page.enable")
            self._cdp = cdp
        return self._cdp

    def _on_request(self, request: Request) -> None:
        if request.is_navigation_request() and _is_active(request.frame, self._page):
            self._navigating, self._announced = request, False
        if request.resource_type in _WAITED_FOR:
            self._in_flight.add(request)
        self._changed.set()

    def _on_request_end(self, request: Request) -> None:
        self._in_flight.discard(request)
        if request is self._navigating and request.failure is not None:
            self._navigating = None
        self._changed.set()

    def _on_navigated(self, frame: Frame) -> None:
        if _is_active(frame, self._page):
            self._navigating, self._announced = None, False
        self._changed.set()

    async def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.type != "beforeunload":
            self._notes.append(f"A dialog said {one_line(dialog.message)!r}; it was accepted.")
        with suppress(Error):
            await dialog.accept()

    def _on_close(self, page: Page) -> None:
        if page is self._page and (left := [p for p in self._context.pages if p is not page]):
            self._page, self._cdp = left[-1], None
        self._changed.set()


def _is_active(frame: Frame, page: Page | None) -> bool:
    return page is not None and frame == page.main_frame


async def _wait_for_answer[T](answer: Awaitable[T], limit: float = ACTION_TIMEOUT) -> T:
    """Wait for the browser's answer, which may never come."""
    return await asyncio.wait_for(answer, limit)


async def _call(cdp: CDPSession, handle: str, function: str) -> None:
    await _wait_for_answer(
        cdp.send("Runtime.callFunctionOn", {"objectId": handle, "functionDeclaration": function})
    )


def _reason(error: Error) -> str:
    """Return the first line of an error, and the last of its log that says what is in the way."""
    log = (line.strip(" -") for line in error.message.splitlines()[1:])
    hints = [line for line in log if any(hint in line for hint in _HINTS)]
    return _first_line(error) + "".join(f" ({one_line(line)[:300]})" for line in hints[-1:])


def _first_line(error: Error) -> str:
    return one_line(error.message.split("\n", 1)[0])[:300]


@asynccontextmanager
async def launched(
    *,
    browser: str | None,
    extra: list[str],
    headless: bool,
    step_timeout: float,
    environment: dict[str, str],
) -> AsyncIterator[Tab]:
    """Start a browser with a fresh profile and yield its tab.

    Raises NoChromium if none is found or it does not start.
    """
    async with async_playwright() as playwright:
        path = chromium.find(
            browser, environment, playwright.chromium.executable_path, headless=headless
        )
        try:
            started = await playwright.chromium.launch(
                executable_path=path, headless=headless, args=chromium.arguments(extra)
            )
        except Error as error:
            raise chromium.NoChromium(f"{path} does not start: {_first_line(error)}") from None
        try:
            context = await started.new_context()
            context.set_default_timeout(ACTION_TIMEOUT * 1000)
            yield Tab(context, step_timeout)
        finally:
            with suppress(Error):
                await started.close()
