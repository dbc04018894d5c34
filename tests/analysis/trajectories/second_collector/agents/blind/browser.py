"""The agent of `tools`, with the formats of this package."""

import json
import sys
from pathlib import Path

from tests.analysis.trajectories.second_collector.agents import tools
from tests.analysis.trajectories.second_collector.agents.blind.formats import FURTHER
from tests.analysis.trajectories.second_collector.agents.formats import FORMATS

if __name__ == "__main__":
    FORMATS.update(FURTHER)
    sys.exit(tools.main(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
