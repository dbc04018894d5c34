import json
from pathlib import Path
from typing import Any

import pytest

from tests.exports.builders import MANIFEST, failure, row
from warex.exports.dataset import UnwrittenDataset, write_dataset
from warex.exports.dataset_formats.atif import trajectory

CALL: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "click", "arguments": '{"id": "7"}'},
}
PAST = [
    {"role": "system", "content": "You are a web agent."},
    {"role": "user", "content": "Buy bread."},
    {"role": "assistant", "content": "I open it.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "502 Bad Gateway"},
    {"role": "assistant", "content": "Again.", "tool_calls": [{**CALL, "id": "call_2"}]},
]
TOOLS = [{"type": "function", "function": {"name": "click"}}]


def test_only_the_last_step_is_to_be_trained_on() -> None:
    steps = trajectory(failure(messages=PAST, tools=TOOLS))["steps"]

    assert [step["source"] for step in steps] == ["system", "user", "agent", "agent"]
    assert [step.get("is_copied_context", False) for step in steps] == [False, False, True, False]
    assert [step["step_id"] for step in steps] == [1, 2, 3, 4]


def test_a_tools_result_is_with_its_call() -> None:
    results = trajectory(failure(messages=PAST, tools=TOOLS))

    step = results["steps"][2]
    assert step["tool_calls"] == [
        {"tool_call_id": "call_1", "function_name": "click", "arguments": {"id": "7"}}
    ]
    assert step["observation"]["results"] == [
        {"content": "502 Bad Gateway", "source_call_id": "call_1"}
    ]
    assert results["agent"]["tool_definitions"] == TOOLS


def test_an_answer_that_no_model_gave_counts_no_call() -> None:
    assert trajectory(failure())["steps"][-1]["llm_call_count"] == 1
    relabelled = trajectory(failure(relabelled=True))["steps"][-1]
    assert "llm_call_count" not in relabelled
    assert relabelled["extra"] == {"kind": "failure", "relabelled": True}


def test_a_screenshot_is_a_file_beside_the_trajectories() -> None:
    parts = [{"type": "text", "text": "Page"}, {"type": "image"}]
    messages = [{"role": "user", "content": parts}, {"role": "assistant", "content": "reload()"}]

    (step, _) = trajectory(row(messages=messages, images=("images/a.jpg",)))["steps"]

    assert step["message"][1] == {
        "type": "image",
        "source": {"media_type": "image/jpeg", "path": "images/a.jpg"},
    }


@pytest.mark.slow
def test_harbors_own_validator_accepts_every_trajectory(tmp_path: Path) -> None:
    from harbor.utils.trajectory_validator import TrajectoryValidator

    png = b"\x89PNG\r\n\x1a\n"
    parts = [{"type": "text", "text": "Page"}, {"type": "image"}]
    shown = [{"role": "user", "content": parts}, {"role": "assistant", "content": "reload()"}]
    odd = [*PAST[:3], {"role": "tool", "tool_call_id": "other", "content": None}, *PAST[4:]]
    rows = [
        row(),
        failure(messages=PAST, tools=TOOLS),
        failure("f2", messages=odd, relabelled=True),
        row("c2", messages=shown, images=("images/a.png",)),
    ]
    manifest = MANIFEST.model_copy(update={"format": "atif"})
    draft = UnwrittenDataset(manifest, {"train": rows}, {"images/a.png": png})
    write_dataset(tmp_path / "data", draft, lambda _: "")

    lines = (tmp_path / "data/train.jsonl").read_text().splitlines()
    assert len(lines) == len(rows)
    assert not (tmp_path / "data/train.parquet").exists()
    for number, line in enumerate(lines):
        path = tmp_path / f"data/{number}.json"
        path.write_text(line)
        validator = TrajectoryValidator()
        assert validator.validate(path), validator.get_errors()
    broken = {**json.loads(lines[0]), "steps": []}
    assert not TrajectoryValidator().validate(broken)
