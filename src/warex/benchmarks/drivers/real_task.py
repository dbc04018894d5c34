"""Has REAL's own harness and demo agent do one task; run by REAL's own Python.

Its one argument is what ``REAL.harness`` is told, as JSON: nothing of the harness is changed.
"""

import json
import sys

from agisdk import REAL

if __name__ == "__main__":
    REAL.harness(**json.loads(sys.argv[1])).run()
