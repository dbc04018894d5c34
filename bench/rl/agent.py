"""An agent without a browser: one episode over HTTP, by a policy or by a task's oracle."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Final

from bench.rl.pages import Page, Target, read_page
from bench.rl.policy import Choice, answer_of
from warex.exports.prompt_page import PageElement, PromptPage
from warex.rl import Session
from warex.rl.testbed import RESULT
from warex.training.ranking.candidates import Candidate

MOST_STEPS: Final = 7
_TIMEOUT_S: Final = 20.0
_HEADERS: Final = {
    "Accept": "text/html",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
}

type Choose = Callable[[PromptPage, int], tuple[Candidate, Choice]]
"""Chooses the action of a page, at a step from 0."""


class Browser:
    """Follows links and sends forms through an episode's proxy, with cookies of its own."""

    def __init__(self, session: Session) -> None:
        context = ssl.create_default_context(cafile=str(session.trial.ca))
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({"https": session.episode.proxy_url}),
            urllib.request.HTTPSHandler(context=context),
            urllib.request.HTTPCookieProcessor(CookieJar()),
        )
        self._past: list[Target] = []
        self.page = Page()

    @property
    def url(self) -> str:
        """The URL that was asked for last."""
        return self._past[-1].url

    def open(self, target: Target) -> None:
        """Load a page."""
        self._past.append(target)
        self.reload()

    def back(self) -> None:
        """Load the page before, if there is one."""
        if len(self._past) > 1:
            self._past.pop()
        self.reload()

    def reload(self) -> None:
        """Load the page again."""
        target = self._past[-1]
        data = None if target.form is None else target.form.encode()
        request = urllib.request.Request(target.url, data=data, headers=_HEADERS)
        try:
            with self._opener.open(request, timeout=_TIMEOUT_S) as answer:
                self._show(answer.read(), answer.geturl())
        except urllib.error.HTTPError as error:
            with error:
                self._show(error.read(), target.url)
        except OSError:
            text = PageElement("", "text", "This site cannot be reached")
            self.page = Page([text])

    def _show(self, body: bytes, url: str) -> None:
        self.page = read_page(body.decode("utf-8", "replace"), url)


def run_episode(session: Session, goal: str, start_url: str, choose: Choose) -> list[Choice]:
    """Act until the policy answers or the steps are used up; leave the answer for the check."""
    browser = Browser(session)
    browser.open(Target(start_url))
    history: list[str] = []
    choices: list[Choice] = []
    for step in range(MOST_STEPS):
        shown = browser.page.prompt(goal, browser.url, "\n".join(history))
        action, choice = choose(shown, step)
        choices.append(choice)
        history.append(action.text)
        match action.template.action:
            case "click":
                assert action.element is not None
                browser.open(browser.page.targets[action.element.id])
            case "reload":
                browser.reload()
            case "go_back":
                browser.back()
            case "send_msg_to_user":
                _write(session.episode.folder / RESULT, answer_of(action))
                break
            case _:
                break
    return choices


def _write(path: Path, answer: str) -> None:
    path.write_text(json.dumps({"answer": answer}), encoding="utf-8")
