"""A small agent to begin with: it looks at a page, asks its model what to do, and does it.

Put your own in its place: any command that does one task and leaves a result.
"""

import argparse
import json
import os
import re
import urllib.error
import urllib.request

MODELS = "https://api.openai.com/v1/chat/completions"
MOST_STEPS = 10
ACTION = re.compile(r"(goto|stop)\('(.*)'\)")


def model(name: str, text: str) -> str:
    """Return what the model says."""
    asked = {"model": name, "messages": [{"role": "user", "content": text}]}
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
    }
    request = urllib.request.Request(MODELS, json.dumps(asked).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        content: str = json.load(answer)["choices"][0]["message"]["content"]
        return content


def look(url: str) -> str:
    """Return a page as a browser asks for it, or what came in its place."""
    headers = {
        "User-Agent": "Mozilla/5.0",
        "Sec-Fetch-Dest": "document",
        "Sec-Fetch-Mode": "navigate",
    }
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            page: bytes = answer.read()
    except urllib.error.HTTPError as error:
        page = error.read()
    except OSError as error:
        return f"No page came: {error}"
    return re.sub(r"<[^>]*>", " ", page.decode("utf-8", "replace"))


def main() -> None:
    """Do one task and write its result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--goal", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    seen, result = "nothing yet", None
    for _ in range(MOST_STEPS):
        reply = model(
            options.model,
            f"Goal: {options.goal}\nSay goto('URL') or stop('ANSWER').\nYou see: {seen}",
        )
        action = ACTION.search(reply)
        if action is None:
            break
        if action[1] == "stop":
            result = action[2]
            break
        seen = look(action[2])
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump({"answer": result}, file)


if __name__ == "__main__":
    main()
