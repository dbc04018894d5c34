"""The prompt of each step: one system message, and one user message with fixed sections."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SYSTEM = """\
You are a web agent. You reach a goal by acting in a web browser, one action at a time.
You see the goal, the current page as an accessibility tree in which every element has an id in
square brackets, what you did so far, and the error of your last action if there was one.
Answer with a short thought and then exactly ONE action on a line of its own.

Actions:
click('id')                    click an element
fill('id', 'text')             replace the text of a field
select_option('id', 'label')   choose an option of a list by its label
press('id', 'key')             press a key on an element, for example 'Enter'
scroll(dx, dy)                 scroll the page by pixels
goto('url')                    open an address
go_back()                      go back in the history
reload()                       load the current page again
noop(ms)                       wait some milliseconds
send_msg_to_user('text')       give the answer, or say that you are done: this ends the task
report_infeasible('why')       say that the goal cannot be reached: this ends the task
"""


COMPACT = """\
You are a web agent. Reach the goal, one action at a time. Write a short thought, then ONE action
on a line of its own: click('id'), fill('id', 'text'), select_option('id', 'label'),
press('id', 'key'), scroll(dx, dy), goto('url'), go_back(), reload(), noop(ms),
send_msg_to_user('text') to answer or to say that you are done, report_infeasible('why').
"""
"""The system message for a small model."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The page as the agent sees it; the screenshot is a PNG in base64.

    `notes` are sentences about the page that are not on it, such as a dialog's message.
    """

    url: str
    title: str
    tree: str
    notes: tuple[str, ...] = ()
    screenshot: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A past step: the model's reply, and the error of its action."""

    reply: str
    error: str | None = None


def messages(
    goal: str, seen: Observation, past: Sequence[Step], *, compact: bool = False
) -> list[dict[str, Any]]:
    """Return the messages of one model call; with ``compact``, with fewer words."""
    sections = [f"# Goal\n\n{goal}", _page(seen)]
    history = "\n\n".join(_past_step(number, step) for number, step in enumerate(past, 1))
    sections.append(f"# History of past actions\n\n{history or 'None yet.'}")
    if past and past[-1].error:
        sections.append(f"# Error message from last action\n\n{past[-1].error}")
    if not compact:
        ask = "Think shortly, then write one action on a line of its own."
        sections.append(f"# Next action\n\n{ask}")
    content: Any = "\n\n".join(sections)
    if seen.screenshot is not None:
        image = {"url": f"data:image/png;base64,{seen.screenshot}"}
        content = [{"type": "text", "text": content}, {"type": "image_url", "image_url": image}]
    system = COMPACT if compact else SYSTEM
    return [{"role": "system", "content": system}, {"role": "user", "content": content}]


def _page(seen: Observation) -> str:
    notes = "".join(f"Note: {one_line(note)}\n" for note in seen.notes)
    return (
        f"# Current page\n\nURL: {one_line(seen.url)}\nTitle: {one_line(seen.title)}\n{notes}"
        f"Accessibility tree:\n{seen.tree}"
    )


def _past_step(number: int, step: Step) -> str:
    error = f"\nError: {step.error}" if step.error else ""
    return f"## Step {number}\n{step.reply.strip()}{error}"


def one_line(text: str) -> str:
    """Return a text as one line, so that no page can write a section of the prompt."""
    return " ".join(text.split())
