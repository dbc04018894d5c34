"""An agent that fetches one page and takes one second, not counting Python's start.

python bench/one_second_agent.py URL
"""

import sys
import time
import urllib.request


def main() -> None:
    """Fetch the page, then sleep for the rest of the second."""
    until = time.monotonic() + 1
    with urllib.request.urlopen(sys.argv[1]) as page:
        page.read()
    time.sleep(max(0.0, until - time.monotonic()))


if __name__ == "__main__":
    main()
