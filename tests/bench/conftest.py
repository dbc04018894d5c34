from collections.abc import Iterator

import pytest
from bench.workspace import Workspace, open_workspace


@pytest.fixture(scope="session")
def workspace() -> Iterator[Workspace]:
    """A workspace for quick measurements."""
    with open_workspace(quick=True) as workspace:
        yield workspace
