import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bench.training.experiment import smollm2

from tests.training.tiny_model import tiny_model
from warex.errors import InputError, MachineError
from warex.extras import install_command
from warex.training.model import loading
from warex.training.model.loading import load_model, require_adapter, require_packages


def test_what_is_missing_of_the_extra_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    command = re.escape(install_command("train"))
    with pytest.raises(MachineError, match=f"torch, .*, not installed here: {command}"):
        require_packages()


def test_a_folder_without_an_adapter_is_said_to_hold_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no adapter: it has no adapter_config\.json"):
        require_adapter(tmp_path)
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match="holds no whole adapter"):
        require_adapter(tmp_path)


@pytest.mark.slow
def test_a_model_is_loaded_from_a_folder(tmp_path: Path) -> None:
    loaded = load_model(str(tiny_model(tmp_path / "m")), device="cpu")

    assert loaded.device == "cpu"
    assert loaded.tokenizer.pad_token == "<|end|>"
    assert not loaded.adapters


@pytest.mark.slow
def test_a_gguf_is_loaded_without_a_word() -> None:
    code = (
        "from bench.training.experiment import smollm2\n"
        "from warex.training.model.loading import load_model\n"
        "loaded = load_model(smollm2(), device='cpu')\n"
        "assert not loaded.model.config.to_dict().get('quantization_config')\n"
        "assert loaded.tokenizer.chat_template\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert (ended.returncode, ended.stderr, ended.stdout) == (0, "", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nothing.gguf", r"nothing\.gguf is not a file"),
        ("./nothing", r"\./nothing is not a folder"),
        ("empty", r"holds no model: it has no config\.json"),
        ("bare", "has no chat template"),
        ("spoilt", "cannot be loaded"),
        ("strange.gguf", "cannot be loaded"),
    ],
)
def test_a_model_that_cannot_be_used_is_reported_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    tiny_model(tmp_path / "bare", template=None)
    (tmp_path / "spoilt").mkdir()
    (tmp_path / "spoilt/config.json").write_text("{")
    (tmp_path / "strange.gguf").write_bytes(b"GGUF nothing")

    with pytest.raises(InputError, match=text):
        load_model(name)


@pytest.mark.slow
def test_a_missing_chat_template_is_reported_before_weights_are_read(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "m", template=None)
    (folder / "model.safetensors").write_bytes(b"no weights")

    with pytest.raises(InputError, match="has no chat template"):
        load_model(str(folder), device="cpu")


@pytest.mark.slow
def test_a_gguf_of_an_unknown_architecture_is_said_to_be_one(tmp_path: Path) -> None:
    from gguf import GGUFWriter

    path = tmp_path / "strange.gguf"
    writer = GGUFWriter(path, "nobody-knows-it")
    writer.add_block_count(1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    with pytest.raises(InputError, match="its architecture is not one that transformers reads"):
        load_model(str(path), device="cpu")


@pytest.mark.slow
def test_a_name_that_is_neither_here_nor_to_be_asked_for_is_said_to_be_so(tmp_path: Path) -> None:
    # huggingface_hub reads its variables once, when it is imported.
    code = "from warex.training.model.loading import load_model; load_model('nobody/nothing')"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}

    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )

    assert "nobody/nothing cannot be loaded: it is not a folder of this machine" in ended.stderr
    assert "the hub is not asked (HF_HUB_OFFLINE is set)" in ended.stderr


@pytest.mark.slow
def test_quantization_without_a_card_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="--qlora needs an NVIDIA card"):
        load_model(str(tiny_model(tmp_path / "m")), device="cpu", qlora=True)


def test_a_folder_of_ggufs_is_pointed_at(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"")

    with pytest.raises(InputError, match=r"did you mean .*x\.gguf"):
        loading._source(str(tmp_path))


@pytest.mark.slow
def test_a_gguf_that_is_cut_short_in_its_weights_is_said_to_be_cut(tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(Path(smollm2()).read_bytes()[:3_000_000])

    with pytest.raises(InputError, match="the file is cut short or damaged"):
        load_model(str(path), device="cpu")
