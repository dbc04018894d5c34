"""Builders of dataset rows and model calls."""

from typing import Any

from warex.exports.dataset import DatasetManifest
from warex.exports.rows import Row
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.events import LlmCall

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
    fields: dict[str, Any] = {
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
    return Row(**{**fields, **changes})


def failure(name: str = "f1", **changes: Any) -> Row:
    """Return the row of a step that recovers from a fault with a reload."""
    prompt = {"role": "user", "content": f"# Goal\n\nDo {name}.\n\nheading '502 Bad Gateway'"}
    answer = {"role": "assistant", "content": "I load the page again.\nreload()"}
    fields = {
        "kind": "failure",
        "action": "reload",
        "condition": "server-error",
        "fault": "http_error",
        "category": "failure",
        "page_family": "nginx",
        "messages": [prompt, answer],
    }
    return row(name, **{**fields, **changes})


def llm_call(**changes: Any) -> LlmCall:
    """Return a whole call to a model with these changes."""
    fields: dict[str, Any] = {
        "exchange": "m1",
        "family": "openai_chat",
        "url": "https://llm.example/v1/chat/completions",
        "model": "m",
        "step": 1,
        "began": 1.0,
        "messages": [],
        "stream": False,
        "status": 200,
        "answer": "reload()",
        "input_tokens": 10,
        "output_tokens": 2,
        "usage": "reported",
        "latency_s": 0.5,
        "first_token_s": None,
        "complete": True,
    }
    return LlmCall(**{**fields, **changes})
