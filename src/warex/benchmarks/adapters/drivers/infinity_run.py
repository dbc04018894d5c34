"""Runs WebArena-Infinity's own runner on one task; run by its environment's Python.

Its one argument is JSON: ``runner`` (the path of its script), ``arguments`` (the script's own) and
``max_steps``. Nothing of the runner is changed; two things are said that it leaves unsaid:

- how many steps the agent may make. The runner tells browser-use's constructor, which takes no such
  word; the agent would go on for the 500 steps that its ``run`` has for a default;
- that the agent has ended, to WAREX, before the task's check asks the application for its state.
"""

import functools
import json
import runpy
import sys
from pathlib import Path
from typing import Any

from judged_script import after_agent


def main(told: dict[str, Any]) -> None:
    """Run the runner as if it had been started by itself."""
    runner = Path(told["runner"])
    # As it does itself, so that these are the modules that it finds.
    sys.path.insert(0, str(runner.parent))
    import tasks
    from browser_use import Agent

    Agent.run = functools.partialmethod(Agent.run, max_steps=told["max_steps"])
    tasks.load_verifier = after_agent(tasks.load_verifier)
    sys.argv = [str(runner), *told["arguments"]]
    runpy.run_path(str(runner), run_name="__main__")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
