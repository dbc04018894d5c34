from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this run's benchmark environments lie: ``harness.made(name, environments)``."""
    return tmp_path_factory.mktemp("environments")
