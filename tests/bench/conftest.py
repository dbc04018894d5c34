from collections.abc import Iterator

import pytest
from bench.workspace import Setting, setting


@pytest.fixture(scope="session")
def place() -> Iterator[Setting]:
    """A place to measure in."""
    with setting(quick=True) as made:
        yield made
