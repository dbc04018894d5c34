import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.tiny_model import tiny_model
from warex.errors import MachineError
from warex.training.model import memory
from warex.training.model.memory import bytes_of_a_weight, free_memory, require_memory, weights_of


def test_free_memory_is_the_machines_or_what_a_container_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = free_memory("cpu")
    assert machine is not None
    assert machine > 2**20
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert memory._left_in_group(tmp_path) == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._left_in_group(tmp_path) is None

    monkeypatch.setattr(memory, "_left_in_group", lambda: 3000)
    assert free_memory("cpu") == 3000


# Alone: it takes a block that is freed at once, and counts the pages that come back.
_FAULTS = """
import ctypes, resource, sys
from warex.training.model.memory import keep_freed_memory
if sys.argv[1] == "kept":
    assert keep_freed_memory()
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
def used():
    block = library.malloc(ctypes.c_size_t(100_000_000))
    ctypes.memset(ctypes.c_void_p(block), 1, 100_000_000)
    library.free(ctypes.c_void_p(block))
used()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
used()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
def test_freed_memory_is_used_again_without_new_pages() -> None:
    def new_pages(how: str) -> int:
        ended = subprocess.run(
            [sys.executable, "-c", _FAULTS, how], capture_output=True, text=True, check=True
        )
        return int(ended.stdout)

    assert new_pages("kept") * 4 < new_pages("given back")


def test_a_weights_bytes_are_those_of_its_precision() -> None:
    assert bytes_of_a_weight(bf16=True, qlora=False) == 2
    assert bytes_of_a_weight(bf16=False, qlora=False) == 4
    assert bytes_of_a_weight(bf16=True, qlora=True) < 1


def test_what_does_not_fit_is_refused_with_both_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "weights_of", lambda config: 8_000_000_000)
    monkeypatch.setattr(memory, "free_memory", lambda device: 12 * 2**30)

    with pytest.raises(MachineError, match=r"14\.9 GiB of weights, and 12\.0 GiB of memory are"):
        require_memory("big", None, 2, "cpu")
    require_memory("big", None, 0.6, "cpu")


@pytest.mark.slow
def test_weights_are_counted_without_making_them(tmp_path: Path) -> None:
    from transformers import AutoConfig, AutoModelForCausalLM

    folder = tiny_model(tmp_path / "m")

    real = AutoModelForCausalLM.from_pretrained(folder)
    assert weights_of(AutoConfig.from_pretrained(folder)) == real.num_parameters()
