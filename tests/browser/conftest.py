from pathlib import Path

import pytest

from warex.sandbox.chromium import find_chromium


@pytest.fixture(scope="session")
def chromium(request: pytest.FixtureRequest) -> Path:
    """The browser; in the quick tier its headless shell, the same engine at a third of the cost."""
    return find_chromium(headless_shell=request.config.option.markexpr == "not slow")
