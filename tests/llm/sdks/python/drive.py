"""python -m tests.llm.sdks.python.drive JSON: what each SDK makes of the models, as JSON.

The argument has the Pythons that run the SDKs' drivers, by driver, and where the vendors are, by
vendor, where that is not where their SDKs ask anyway. With the name of a driver as a second
argument that one is run, by this Python.
"""

import importlib
import json
import subprocess
import sys
import time
from typing import Any


def run_one(name: str, at: dict[str, str]) -> dict[str, Any]:
    from tests.llm.sdks.python.sdk_io import Given

    given = Given(at)
    driver = importlib.import_module(f"tests.llm.sdks.python.sdks.{name}")
    driver.run(given)
    return given.results


def run_all(pythons: dict[str, str], text: str) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for name, python in pythons.items():
        began = time.monotonic()
        command = [python, "-m", "tests.llm.sdks.python.drive", text, name]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=240)
        print(f"{name}: {time.monotonic() - began:.1f} s", file=sys.stderr)
        results |= {f"{name}: {what}": it for what, it in json.loads(done.stdout).items()}
    return results


def main() -> None:
    text, *one = sys.argv[1:]
    asked = json.loads(text)
    results = run_one(one[0], asked["at"]) if one else run_all(asked["pythons"], text)
    print(json.dumps(results, ensure_ascii=False))


if __name__ == "__main__":
    main()
