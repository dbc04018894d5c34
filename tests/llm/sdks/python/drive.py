"""python -m tests.llm.sdks.python.drive JSON [DRIVER]: print what each SDK returns, as JSON.

The argument has ``pythons``, the Python that runs each driver, and ``at``, the origins of vendors
that differ from their SDKs' defaults. With DRIVER, this Python runs only that one.
"""

import importlib
import json
import subprocess
import sys
import time
from typing import Any


def run_one(name: str, at: dict[str, str]) -> dict[str, Any]:
    from tests.llm.sdks.python.sdk_io import SdkRecorder

    recorder = SdkRecorder(at)
    driver = importlib.import_module(f"tests.llm.sdks.python.sdks.{name}")
    driver.run(recorder)
    return recorder.results


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
