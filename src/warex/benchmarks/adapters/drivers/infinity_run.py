"""Runs WebArena-Infinity's own runner on one task; run by its environment's Python.

Its one argument is JSON: ``runner`` (the path of its script), ``arguments`` (the script's own) and
``max_steps``. It adds two things:

- the step limit, which the runner gives to browser-use's constructor in vain; the default of
  ``Agent.run`` is 500 steps;
- the report to WAREX that the agent has ended, before the task's check reads the application.
"""

import functools
import json
import runpy
import sys
from pathlib import Path
from typing import Any

from judged_script import after_agent


def main(config: dict[str, Any]) -> None:
    """Run the runner as ``__main__``."""
    runner = Path(config["runner"])
    # As the runner does itself, so that both import the same modules.
    sys.path.insert(0, str(runner.parent))
    import tasks
    from browser_use import Agent

    Agent.run = functools.partialmethod(Agent.run, max_steps=config["max_steps"])
    tasks.load_verifier = after_agent(tasks.load_verifier)
    sys.argv = [str(runner), *config["arguments"]]
    runpy.run_path(str(runner), run_name="__main__")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
