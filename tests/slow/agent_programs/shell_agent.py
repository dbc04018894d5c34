"""An agent with one tool, a shell, as coding agents have it. Argument: the task."""

import json
import subprocess
import sys
from typing import Any

from openai import OpenAI

BASH: Any = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a command.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
    },
}
client = OpenAI(api_key="sk-test")
messages: list[Any] = [{"role": "user", "content": sys.argv[1]}]
while True:
    answer = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=[BASH])
    message = answer.choices[0].message
    messages.append(message)
    if not message.tool_calls:
        print(message.content)
        subprocess.run(["agent-browser", "close"], check=True, stdout=subprocess.DEVNULL)
        break
    for call in message.tool_calls:
        assert call.type == "function"
        command = json.loads(call.function.arguments)["command"]
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        output = done.stdout + done.stderr
        messages.append({"role": "tool", "tool_call_id": call.id, "content": output})
