from pathlib import Path

import pytest

from warex.sandbox.chromium import find_chromium


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The headless shell, if there is one: the same engine at a third of the cost."""
    return find_chromium(headless_shell=True)
