"""Has REAL's own harness and demo agent do one task; run by REAL's own Python.

Its one argument is a JSON file of what ``REAL.harness`` is told: nothing of the harness is changed.
"""

import json
import sys
from pathlib import Path

from agisdk import REAL

if __name__ == "__main__":
    REAL.harness(**json.loads(Path(sys.argv[1]).read_bytes())).run()
