"""The command line of the reference agent.

Exit codes: 0 it answered, reported or used up its steps; 1 the browser was lost or the result
cannot be written; 2 bad arguments; 3 no Playwright or no Chromium; 4 the model endpoint cannot be
used; 130 interrupted.
"""

import argparse
import asyncio
import gc
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

from warex.agents.reference.chromium import NoChromium
from warex.agents.reference.endpoint import ModelClient, ModelError
from warex.errors import MachineError
from warex.extras import require_extra

if TYPE_CHECKING:
    from warex.agents.reference.loop import AgentResult


def main(argv: Sequence[str] | None = None) -> int:
    """Run the agent and return its exit code."""
    options = _parser().parse_args(argv)
    try:
        require_extra("demo", "the reference agent", "playwright")
    except MachineError as error:
        return _fail(3, str(error))
    from playwright.async_api import Error as BrowserError

    try:
        result = asyncio.run(_run(options))
        if options.result is not None:
            _write(options.result, result)
    except NoChromium as error:
        return _fail(3, str(error))
    except BrowserError as error:
        return _fail(1, f"The browser was lost: {error.message.splitlines()[0]}")
    except OSError as error:
        return _fail(1, f"{error.filename or options.result}: {error.strerror or error}")
    except KeyboardInterrupt:
        return 130
    if result.ending == "model_error":
        return _fail(4, result.error or "The model endpoint cannot be used.")
    return 0


def _fail(code: int, sentence: str) -> int:
    sys.stderr.write(f"{sentence}\n")
    return code


async def _run(options: argparse.Namespace) -> "AgentResult":
    from warex.agents.reference.loop import AgentResult, run_agent
    from warex.agents.reference.tab import launched

    environment = dict(os.environ)
    try:
        endpoint = ModelClient(options.model, options.base_url, environment)
        async with launched(
            browser=options.browser,
            extra=options.browser_arg,
            headless=not options.headed,
            step_timeout=options.step_timeout,
            environment=environment,
        ) as tab:
            await tab.open(options.start_url)
            gc.enable()
            try:
                return await run_agent(
                    options.goal,
                    tab,
                    endpoint,
                    max_steps=options.max_steps,
                    screenshot=options.screenshot,
                    compact=options.compact,
                )
            finally:
                await endpoint.close()
    except ModelError as error:
        return AgentResult("model_error", None, 0, str(error))


def _write(path: Path, result: "AgentResult") -> None:
    """Write the result atomically."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(json.dumps(asdict(result), ensure_ascii=False) + "\n", "utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m warex.agents.reference",
        description="A web agent: a goal, a real browser, any OpenAI-compatible model.",
        epilog="The key comes from OPENAI_API_KEY, the browser's proxy from the environment.",
    )
    add = parser.add_argument
    add("--goal", required=True, metavar="TEXT", type=_text, help="what to reach, in plain words")
    add("--start-url", required=True, metavar="URL", type=_address, help="the page to start on")
    add("--model", required=True, metavar="NAME", type=_text, help="the model's name")
    add("--base-url", metavar="URL", type=_address, help="the endpoint (default: OPENAI_BASE_URL)")
    add("--max-steps", type=_at_least_one, default=25, metavar="N", help="default: 25")
    add("--result", type=_writable, metavar="FILE", help="write how it ended as JSON")
    add("--screenshot", action="store_true", help="show the model a picture, too")
    add("--compact", action="store_true", help="show a small model what it needs of a page")
    add("--browser", metavar="PATH", help="default: $WAREX_CHROMIUM, a headless shell, chromium")
    add("--browser-arg", action="append", default=[], metavar="ARG", help="as --browser-arg=--flag")
    add("--step-timeout", type=_seconds, default=45.0, metavar="S", help="longest wait for a page")
    add("--headed", action="store_true", help="show the browser window")
    return parser


def _text(value: str) -> str:
    if not value.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return value


def _address(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        usable = False
    if not usable:
        raise argparse.ArgumentTypeError(f"{value!r} is not an http:// or https:// address")
    return value


def _at_least_one(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise argparse.ArgumentTypeError(f"{value!r} is not a whole number of at least 1")
    return int(value)


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{value!r} is not a number of seconds from 0 to 3600")
    return seconds


def _writable(value: str) -> Path:
    path = Path(value)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{value!r} is not a file in a folder that exists")
    return path


def _run_as_program() -> NoReturn:
    # Garbage collection of the imported classes would double the start-up time.
    gc.disable()
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _run_as_program()
