from pathlib import Path

import pytest

from tests.training.tiny import tiny_model
from warex.errors import MachineError
from warex.training import memory
from warex.training.memory import bytes_of_a_weight, free_memory, require_memory, weights_of


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
