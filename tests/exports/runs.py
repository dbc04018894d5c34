"""Small runs that yield examples for training, written with the trace writer."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import JsonValue

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.run.load import Run, load_run

GOALS = ("Order bread and butter.", "Find the cheapest lamp in store.", "Write to Ada about lunch.")


def shown(goal: str, page: str) -> list[JsonValue]:
    """Return a prompt that contains a goal and a page."""
    return [
        {"role": "system", "content": "You are a web agent."},
        {"role": "user", "content": f"# Goal\n\n{goal}\n\n{page}"},
    ]


def recovering(goal: str = GOALS[0], url: str = "https://shop.example/") -> Story:
    """Return a story in which a page fails, is reloaded, and is acted on."""
    story = Story().fault(1, url)
    story.thinks(1, "reload", messages=shown(goal, f"{url} heading '500 Internal Server Error'"))
    story.page("x2", url)
    story.thinks(2, "click", arguments=["7"], messages=shown(goal, f"{url} [7] link 'Till'"))
    return story.thinks(3, "send_msg_to_user", messages=shown(goal, f"{url} it is done")).stops()


def losing(goal: str = GOALS[0], url: str = "https://shop.example/") -> Story:
    """Return a story in which a page fails and the agent gives up."""
    story = Story().fault(1, url)
    page = f"{url} heading '500 Internal Server Error'"
    return story.thinks(1, "report_infeasible", messages=shown(goal, page)).stops()


def clean(goal: str = GOALS[0], url: str = "https://shop.example/") -> Story:
    """Return a story in which a task is done without faults."""
    story = Story().page("x1", url)
    story.thinks(1, "click", arguments=["7"], messages=shown(goal, f"{url} [7] link 'Till'"))
    return story.thinks(2, "send_msg_to_user", messages=shown(goal, f"{url} it is done")).stops()


def several_sites(path: Path, sites: Sequence[str] = ("shop", "mail", "forum")) -> Run:
    """Return a run of two agents on several sites, each clean and under server errors."""
    folder = RunFolder(path).manifest()
    for site, goal in zip(sites, GOALS, strict=False):
        url, task = f"https://{site}.example/", f"{site}-task"
        folder.trial("clean", task, solved(), clean(goal, url))
        folder.trial("server-error", task, solved(), recovering(goal, url))
        folder.trial("server-error", task, failed(), losing(goal, url), agent="giveup")
    return load_run(path)
