from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path).manifest()
