import os
import subprocess
import sys

import pytest

from warex.training.model.openmp import shorten_openmp_spin


def test_threads_spin_briefly_unless_a_variable_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.setenv("GOMP_SPINCOUNT", "7")
    shorten_openmp_spin()
    assert os.environ["GOMP_SPINCOUNT"] == "7"

    monkeypatch.delenv("GOMP_SPINCOUNT")
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    shorten_openmp_spin()
    assert "GOMP_SPINCOUNT" not in os.environ

    monkeypatch.delenv("OMP_WAIT_POLICY")
    shorten_openmp_spin()
    assert int(os.environ["GOMP_SPINCOUNT"]) > 0


@pytest.mark.slow
def test_a_model_is_loaded_with_an_openmp_that_spins_briefly() -> None:
    code = (
        "import contextlib\n"
        "from warex.training.model.loading import load_model\n"
        "from warex.errors import InputError\n"
        "with contextlib.suppress(InputError):\n"
        "    load_model('./nothing')\n"
    )
    ours = ("OMP_", "GOMP_")
    environment = {name: it for name, it in os.environ.items() if not name.startswith(ours)}

    # OpenMP writes what it reads, when it is loaded.
    shown = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "OMP_DISPLAY_ENV": "verbose"},
        capture_output=True,
        text=True,
        check=True,
    ).stderr

    assert "GOMP_SPINCOUNT = '2000'" in shown
