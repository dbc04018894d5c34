import json

import pytest
from pydantic import JsonValue

from warex.traces.events import LlmCall
from warex.view.click_points import click_points


def call(answer: str = "", family: str = "openai_chat", **tool: JsonValue) -> LlmCall:
    calls: list[JsonValue] = [
        {"id": "1", "name": name, "arguments": json.dumps(inputs)} for name, inputs in tool.items()
    ]
    return LlmCall(
        exchange="m1",
        family=family,
        url="https://llm.example/",
        model="m",
        step=1,
        began=0,
        messages=[],
        stream=False,
        status=200,
        answer=answer,
        tool_calls=calls,
        input_tokens=None,
        output_tokens=None,
        usage="none",
        latency_s=0,
        first_token_s=None,
        complete=True,
    )


@pytest.mark.parametrize(
    ("of", "points"),
    [
        # Anthropic's computer tool.
        (call(computer={"action": "left_click", "coordinate": [12, 34]}), [(12, 34, "pixel")]),
        # OpenAI's computer_call.
        (call(click={"type": "click", "button": "left", "x": 5, "y": 6}), [(5, 6, "pixel")]),
        (call(drag={"type": "drag", "path": [{"x": 5, "y": 6}, {"x": 9, "y": 9}]}),
         [(5, 6, "pixel")]),
        # Gemini's computer use.
        (call(family="gemini", click_at={"x": 500, "y": 250}), [(500, 250, "thousandth")]),
        (call("pyautogui.click(100, 200)"), [(100, 200, "pixel")]),
        (call("mouse_click(347.5, 192)"), [(347.5, 192, "pixel")]),
        (call("Action: click(start_box='<|box_start|>(10,20)<|box_end|>')"), [(10, 20, "pixel")]),
        # No point: an element's id, a distance, a text with numbers.
        (call("click('12')"), []),
        (call("scroll(0, 200)"), []),
        (call(click={"x": "left", "y": None}), []),
        (call("goto('https://shop.example/12,34')"), []),
    ],
)  # fmt: skip
def test_the_point_of_an_action_is_read(
    of: LlmCall, points: list[tuple[float, float, str]]
) -> None:
    assert [(point.x, point.y, point.unit) for point in click_points(of)] == points
