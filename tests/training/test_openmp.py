import os
import subprocess
import sys

import pytest

from warex.training.openmp import wait_passively


def test_threads_wait_passively_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    wait_passively()
    assert os.environ["OMP_WAIT_POLICY"] == "passive"

    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    wait_passively()
    assert os.environ["OMP_WAIT_POLICY"] == "active"


@pytest.mark.slow
def test_a_model_is_loaded_by_an_openmp_that_was_told_so() -> None:
    code = (
        "import contextlib, os\n"
        "from warex.training.model import load_model\n"
        "from warex.errors import InputError\n"
        "with contextlib.suppress(InputError):\n"
        "    load_model('./nothing')\n"
    )
    environment = {name: it for name, it in os.environ.items() if not name.startswith("OMP_")}

    # OpenMP writes what it reads, when it is loaded.
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "OMP_DISPLAY_ENV": "true"},
        capture_output=True,
        text=True,
        check=True,
    ).stderr

    assert "OMP_WAIT_POLICY = 'PASSIVE'" in told
