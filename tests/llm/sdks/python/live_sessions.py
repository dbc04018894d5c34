"""Talks to OpenAI Realtime and Gemini Live with their vendors' SDKs; prints what these hear."""

import asyncio
import json
import sys
from typing import Any

from google import genai
from google.genai import types
from openai import AsyncOpenAI


async def realtime(port: str) -> list[Any]:
    """Ask twice over one session: for words, and for a call of a tool."""
    client = AsyncOpenAI(
        api_key="sk-test",
        base_url=f"http://127.0.0.1:{port}/v1",
        websocket_base_url=f"ws://127.0.0.1:{port}/v1",
    )
    heard: list[Any] = []
    async with client.realtime.connect(model="gpt-realtime") as session:
        await session.session.update(session={"type": "realtime", "instructions": "Help."})
        for text in ("hello", "buy"):
            await session.conversation.item.create(
                item={
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": text}],
                }
            )
            await session.response.create()
            async for event in session:
                if event.type == "response.done":
                    heard.append([it.type for it in event.response.output or []])
                    break
    return heard


async def live(port: str) -> list[Any]:
    """Take a turn that ends with a call of a tool, and give its result."""
    client = genai.Client(
        api_key="AIza-test", http_options=types.HttpOptions(base_url=f"https://localhost:{port}")
    )
    heard: list[Any] = []
    config = types.LiveConnectConfig(response_modalities=[types.Modality.TEXT])
    async with client.aio.live.connect(model="gemini-live", config=config) as session:
        turn = types.Content(role="user", parts=[types.Part(text="buy")])
        await session.send_client_content(turns=turn, turn_complete=True)
        async for message in session.receive():
            if message.tool_call is not None:
                call = message.tool_call.function_calls[0]
                heard.append(call.name)
                result = types.FunctionResponse(id=call.id, name=call.name, response={"ok": True})
                await session.send_tool_response(function_responses=result)
            elif message.text:
                heard.append(message.text)
    return heard


if __name__ == "__main__":
    print(json.dumps([asyncio.run(realtime(sys.argv[1])), asyncio.run(live(sys.argv[2]))]))
