"""Rows as tests need them."""

from typing import Any

from warex.exports.dataset import DatasetManifest
from warex.exports.rows import Row
from warex.llm.actions import Vocabulary

WORDS = Vocabulary(
    name="reference-agent",
    navigate=("click", "goto", "reload"),
    recover=("reload", "goto"),
    retry=("reload",),
    finish=("send_msg_to_user", "report_infeasible"),
    infeasible=("report_infeasible",),
    noop=("noop",),
    other=("fill",),
)
MANIFEST = DatasetManifest(format="sft", vocabularies={"testbed": WORDS})


def row(name: str = "r1", **changes: Any) -> Row:
    """Return a clean row, or one with these changes."""
    prompt = {"role": "user", "content": f"# Goal\n\nDo {name}.\n\n[1] button 'Save'"}
    answer = {"role": "assistant", "content": "I save.\nclick('1')"}
    given: dict[str, Any] = {
        "id": name,
        "kind": "clean",
        "action": "click",
        "benchmark": "testbed",
        "agent": "patient",
        "condition": "clean",
        "task": f"task-{name}",
        "site": "shop.example",
        "url": "https://shop.example/",
        "run": "run",
        "trial": f"trials/{name}",
        "step": 1,
        "vocabulary": "testbed",
        "messages": [prompt, answer],
    }
    return Row(**{**given, **changes})


def failure(name: str = "f1", **changes: Any) -> Row:
    """Return the row of a step after a fault, recovered from by a reload."""
    prompt = {"role": "user", "content": f"# Goal\n\nDo {name}.\n\nheading '502 Bad Gateway'"}
    answer = {"role": "assistant", "content": "I load the page again.\nreload()"}
    given = {
        "kind": "failure",
        "action": "reload",
        "condition": "server-error",
        "fault": "http_error",
        "category": "failure",
        "page_family": "nginx",
        "messages": [prompt, answer],
    }
    return row(name, **{**given, **changes})
