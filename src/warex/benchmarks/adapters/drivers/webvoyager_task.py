"""Runs WebVoyager's ``run.py`` on a file of one task, then its judge; run by its own Python.

Its one argument is JSON: ``run`` and ``judge`` (command lines without the key; no judge: empty),
``results`` (the folder of the first), ``judged`` (an empty folder), ``verdict`` (a file). The judge
reads only folders named as a task of its fifteen sites, so the task's folder is linked under such a
name. Before the judge runs, it is reported that the agent has ended.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from judged_script import after_agent

_NAME = "taskAllrecipes--0"


def main(config: dict[str, Any]) -> int:
    """Run both; return the exit code of the first."""
    # Both take their key from the command line only.
    key = ["--api_key", os.environ["OPENAI_API_KEY"]]
    code = subprocess.run([*config["run"], *key], check=False).returncode
    done = sorted(Path(config["results"]).glob("*/task*"))
    if code == 0 and done and config["judge"]:
        os.symlink(done[-1].absolute(), Path(config["judged"], _NAME))
        with open(config["verdict"], "w", encoding="utf-8") as verdict:
            judge = after_agent(subprocess.run)
            judge([*config["judge"], *key], stdout=verdict, stderr=subprocess.STDOUT, check=False)
    return code


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
