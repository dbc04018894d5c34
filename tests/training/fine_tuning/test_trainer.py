import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.exports.builders import MANIFEST, failure, row
from tests.training.tiny_model import tiny_model
from warex.errors import InputError, MachineError
from warex.exports.dataset import Dataset, UnwrittenDataset, read_dataset, write_dataset
from warex.exports.rows import LabelledAnswer, PreferencePair
from warex.training.evaluation.answer_classes import is_right
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.fine_tuning.result import TrainingProgress, TrainingResult
from warex.training.fine_tuning.trainer import METRICS, last_checkpoint, train

pytestmark = pytest.mark.slow

QUICK = Hyperparameters(
    learning_rate=0.01, epochs=4, batch=4, at_once=4, max_length=512, precision="fp32"
)
OTHER = QUICK.model_copy(update={"epochs": 2, "batch": 8})
TRAIN = [*(row(f"c{at}") for at in range(8)), *(failure(f"f{at}") for at in range(8))]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_model(tmp_path_factory.mktemp("model")))


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return made(tmp_path / "data", {"train": TRAIN, "validation": [row("v1"), failure("v2")]})


def made(folder: Path, splits: Any, kind: str = "sft") -> Dataset:
    manifest = MANIFEST.model_copy(update={"format": kind})
    write_dataset(folder, UnwrittenDataset(manifest, splits), lambda _: "")
    return read_dataset(folder)


def losses(out: Path, name: str = "loss") -> list[float]:
    lines = map(json.loads, (out / METRICS).read_text().splitlines())
    return [line[name] for line in lines if name in line]


def test_a_training_lowers_the_loss_and_leaves_an_adapter_with_its_card(
    tmp_path: Path, model: str, data: Dataset
) -> None:
    progress: list[TrainingProgress] = []

    trained = train(data, model, tmp_path / "out", QUICK, on_step=progress.append)

    assert (trained.steps, trained.examples, trained.left_out) == (16, 16, 0)
    seen, right = (losses(tmp_path / "out", name) for name in ("loss", "mean_token_accuracy"))
    assert seen[-1] < seen[0] / 1.5
    assert right[-1] > right[0] + 0.25
    assert trained.validation_loss == pytest.approx(min(losses(tmp_path / "out", "eval_loss")))
    assert (tmp_path / "out/adapter_model.safetensors").exists()
    card = (tmp_path / "out/README.md").read_text()
    assert model in card
    assert data.manifest.splits["train"].sha256 in card
    assert json.loads((tmp_path / "out/recipe.json").read_text())["learning_rate"] == 0.01
    assert (progress[-1].step, progress[-1].steps) == (16, 16)


def test_the_loss_falls_on_the_answer_alone(tmp_path: Path, model: str) -> None:
    # The prompts are noise, so only the answer's tokens can be predicted.
    def noise(at: int) -> list[dict[str, str]]:
        page = "".join(chr(33 + (at * 37 + place * place) % 90) for place in range(200))
        return [{"role": "user", "content": page}, {"role": "assistant", "content": "reload()"}]

    noisy = [failure(f"n{at}", messages=noise(at)) for at in range(16)]
    data = made(tmp_path / "data", {"train": noisy})

    train(data, model, tmp_path / "out", QUICK.model_copy(update={"epochs": 20}), one_sided=True)

    assert losses(tmp_path / "out", "mean_token_accuracy")[-1] > 0.9


def test_an_adapter_answers_as_it_was_trained_to_when_it_is_loaded_again(
    tmp_path: Path, model: str, data: Dataset
) -> None:
    from warex.training.inference.backends import answers_by_model
    from warex.training.model.loading import load_model

    recipe = QUICK.model_copy(update={"epochs": 30})
    train(data, model, tmp_path / "out", recipe)
    loaded = load_model(model, precision="fp32")
    adapter = loaded.add_adapter(tmp_path / "out")
    asked = [TRAIN[0], TRAIN[8]]

    tuned = {it.id: answer["content"] for it, answer in answers_by_model(loaded, asked, adapter)}
    plain = {it.id: answer["content"] for it, answer in answers_by_model(loaded, asked, None)}
    loaded.merge_adapter()
    merged = {it.id: answer["content"] for it, answer in answers_by_model(loaded, asked, None)}

    assert tuned["f0"].endswith("reload()")
    assert tuned["c0"].endswith("click('1')")
    assert plain != tuned
    assert merged == tuned


def test_a_run_that_was_killed_goes_on_at_its_last_whole_checkpoint(
    tmp_path: Path, model: str, data: Dataset
) -> None:
    out = tmp_path / "out"
    command = ["train", "--data", data.folder, "--model", model, "--out", out]
    command += ["--epochs", "50", "--batch", "4", "--max-length", "512", "--precision", "fp32"]
    command += ["--learning-rate", "0.01"]
    process = subprocess.Popen(
        [sys.executable, "-m", "warex.cli", *map(str, command)], stderr=subprocess.DEVNULL
    )
    while process.poll() is None and last_checkpoint(out) is None:
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    last = last_checkpoint(out)
    assert last is not None
    step = int(last.name.rpartition("-")[2])
    cut = out / f"checkpoints/checkpoint-{step + 400}"
    cut.mkdir()
    (cut / "adapter_model.safetensors").write_bytes(b"half")

    trained = train(data, model, out, QUICK.model_copy(update={"epochs": 50}), resume=True)

    assert trained.resumed_at == step
    assert trained.steps == 200


@pytest.mark.parametrize("how", ["packing", "gradient_checkpointing"])
def test_ways_that_save_time_or_memory_learn_as_well(
    tmp_path: Path, model: str, data: Dataset, how: str
) -> None:
    recipe = QUICK.model_copy(update={how: True, "epochs": 20, "at_once": 1})

    train(data, model, tmp_path / "out", recipe)

    seen = losses(tmp_path / "out")
    assert seen[-1] < seen[0] / 1.5


def test_full_training_gives_a_model_without_an_adapter(
    tmp_path: Path, model: str, data: Dataset
) -> None:
    from warex.training.inference.backends import answers_by_model
    from warex.training.model.loading import load_model

    recipe = QUICK.model_copy(update={"full": True, "epochs": 30})

    train(data, model, tmp_path / "out", recipe)

    assert not (tmp_path / "out/adapter_model.safetensors").exists()
    assert "library_name: transformers" in (tmp_path / "out/README.md").read_text()
    assert last_checkpoint(tmp_path / "out") is not None
    loaded = load_model(str(tmp_path / "out"), precision="fp32")
    answers = {it.id: answer["content"] for it, answer in answers_by_model(loaded, TRAIN[::8])}
    assert answers["f0"].endswith("reload()")
    assert answers["c0"].endswith("click('1')")


def test_the_modules_that_are_named_are_adapted_and_no_others(
    tmp_path: Path, model: str, data: Dataset
) -> None:
    recipe = QUICK.model_copy(update={"target": "q_proj, v_proj", "epochs": 1})

    train(data, model, tmp_path / "out", recipe)

    config = json.loads((tmp_path / "out/adapter_config.json").read_text())
    assert set(config["target_modules"]) == {"q_proj", "v_proj"}
    with pytest.raises(InputError, match=r"--target nothing: .* all-linear fits every model"):
        train(data, model, tmp_path / "no", recipe.model_copy(update={"target": "nothing"}))


def test_an_adapter_that_fits_is_continued_with_its_own_rank(
    tmp_path: Path, model: str, data: Dataset
) -> None:
    once = QUICK.model_copy(update={"epochs": 1})
    first = tmp_path / "first"
    train(data, model, first, once.model_copy(update={"rank": 4}))

    train(data, model, tmp_path / "second", once, adapter=first)

    config, recipe = (
        json.loads((tmp_path / "second" / name).read_text())
        for name in ("adapter_config.json", "recipe.json")
    )
    assert config["r"] == recipe["rank"] == 4
    assert recipe["adapter"] == str(first)
    config = json.loads((first / "adapter_config.json").read_text())
    (first / "adapter_config.json").write_text(json.dumps({**config, "r": 8}))
    with pytest.raises(InputError, match=r"first is not an adapter of .*size mismatch"):
        train(data, model, tmp_path / "third", once, adapter=first)


def test_the_best_epoch_is_chosen_by_answers_to_the_validation_rows(
    tmp_path: Path, model: str, data: Dataset
) -> None:
    recipe = QUICK.model_copy(update={"keep_best": "recovery", "epochs": 20})

    trained = train(data, model, tmp_path / "out", recipe, is_right=is_right)

    seen = losses(tmp_path / "out", "eval_right")
    assert len(seen) == 20
    assert trained.right == max(seen) == 1
    assert trained.validation_loss == losses(tmp_path / "out", "eval_loss")[seen.index(1)]


def test_rows_of_like_length_are_trained_on_together(
    tmp_path: Path, model: str, data: Dataset
) -> None:
    recipe = QUICK.model_copy(update={"group_by_length": True, "at_once": "auto"})

    trained = train(data, model, tmp_path / "out", recipe)

    # On a processor, more at once is not faster.
    assert (trained.steps, trained.at_once) == (16, 1)
    assert json.loads((tmp_path / "out/recipe.json").read_text())["at_once"] == 1


def test_a_recipe_that_does_not_fit_is_refused_before_loading(
    tmp_path: Path, data: Dataset
) -> None:
    unvalidated = made(tmp_path / "unvalidated", {"train": TRAIN})
    for changes, of, why in (
        ({"keep_best": "recovery"}, unvalidated, "has no row in validation"),
        ({"full": True, "qlora": True}, data, "--full trains all weights"),
        ({"at_once": 3}, data, "--at-once 3 does not divide --batch 4 evenly"),
    ):
        with pytest.raises(InputError, match=why):
            train(of, "nothing", tmp_path / "out", QUICK.model_copy(update=changes))


def test_tensorboard_reads_what_was_logged(tmp_path: Path, model: str, data: Dataset) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train(data, model, tmp_path / "out", QUICK)

    (folder,) = (tmp_path / "out/checkpoints/runs").iterdir()
    events = EventAccumulator(str(folder)).Reload()
    assert len(events.Scalars("train/loss")) == 16


def test_a_folder_that_is_taken_is_refused_and_nothing_in_it_touched(
    tmp_path: Path, data: Dataset
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("x")

    with pytest.raises(InputError, match=r"is not empty: name a new folder, or go on .* --resume"):
        train(data, "nothing", tmp_path / "out", QUICK)
    assert (tmp_path / "out/mine").read_text() == "x"


def test_rows_that_do_not_fit_are_reported(tmp_path: Path, model: str) -> None:
    answer = {"role": "assistant", "content": "I load the page again.\nreload()"}
    long = [it.model_copy(update={"messages": [*it.prompt, answer]}) for it in TRAIN]
    data = made(tmp_path / "data", {"train": long})

    with pytest.raises(InputError, match="no row of train fits into 32 tokens"):
        train(data, model, tmp_path / "out", QUICK.model_copy(update={"max_length": 32}))


@pytest.mark.parametrize("kind", ["dpo", "kto"])
def test_preferences_are_learnt_by_their_own_method(tmp_path: Path, model: str, kind: str) -> None:
    facts = [
        {**failure(f"f{at}").model_dump(exclude={"messages"}), "prompt": failure(f"f{at}").prompt}
        for at in range(8)
    ]
    good, bad = ([{"role": "assistant", "content": it}] for it in ("reload()", "noop()"))
    rows: list[Any] = [PreferencePair(**it, chosen=good, rejected=bad) for it in facts]
    if kind == "kto":
        rows = [
            LabelledAnswer(**it, completion=good if at % 2 else bad, label=bool(at % 2))
            for at, it in enumerate(facts)
        ]
    data = made(tmp_path / "data", {"train": rows}, kind)

    recipe = Hyperparameters(epochs=1)  # The defaults do for every format.
    trained: TrainingResult = train(data, model, tmp_path / "out", recipe, one_sided=True)

    assert (trained.examples, trained.steps) == (8, 1)
    assert trained.at_once == (2 if kind == "kto" else 1)
    recipe = recipe.model_copy(update={"target": "lm_head"})
    with pytest.raises(InputError, match=r"TRL does not train so: .*lm_head"):
        train(data, model, tmp_path / "no", recipe, one_sided=True)
    assert not any((tmp_path / "no").iterdir())
    assert (tmp_path / "out/adapter_model.safetensors").exists()


def test_a_full_disk_leaves_earlier_checkpoints_and_a_sentence(
    tmp_path: Path, model: str, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    real = torch.save

    def full(value: Any, file: Any, *args: Any, **more: Any) -> None:
        if "checkpoint-8" in str(file):
            raise OSError(28, "No space left on device")
        real(value, file, *args, **more)

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(MachineError, match=r"the disk is full.*go on with --resume"):
        train(data, model, tmp_path / "out", QUICK)
    monkeypatch.undo()

    with pytest.raises(InputError, match=r"--epochs was 4 and is 2; --batch was 4 and is 8"):
        train(data, model, tmp_path / "out", OTHER, resume=True)
    assert train(data, model, tmp_path / "out", QUICK, resume=True).resumed_at == 4


def test_a_training_that_ends_before_a_checkpoint_can_be_started_again(
    tmp_path: Path, model: str, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **more: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("torch.save", full)
        with pytest.raises(MachineError, match=r"the disk is full.*start again"):
            train(data, model, tmp_path / "out", QUICK)
    assert not any((tmp_path / "out").iterdir())
    trained = train(data, model, tmp_path / "out", QUICK.model_copy(update={"epochs": 1}))
    assert trained.steps == 4


@pytest.mark.parametrize("size", ["60k", "120k", "200k"])
def test_a_disk_that_is_full_at_any_file_of_a_checkpoint_is_said_to_be(
    tmp_path: Path, model: str, data: Dataset, size: str
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    # A disk of its own, in namespaces that end with the command.
    script = f'mount -t tmpfs -o size={size} none "$1" && shift && exec "$@"'
    apart = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(disk)]
    train_there = [sys.executable, "-m", "warex.cli", "train", "--data", str(data.folder)]
    train_there += ["--model", model, "--out", str(disk / "out"), "--max-length", "512"]

    ended = subprocess.run([*apart, *train_there], capture_output=True, text=True, check=False)

    assert ended.returncode == 3, ended.stderr
    assert ended.stderr.splitlines()[-1].startswith(f"warex: {disk}/out: the disk is full")


def test_several_processes_train_one_adapter_by_the_same_batch(
    tmp_path: Path, model: str, data: Dataset
) -> None:
    # As accelerate starts them, one for each card; on processors it would want MPI.
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"]
    launch += ["-m", "warex.cli", "train", "--data", str(data.folder)]
    launch += ["--model", model, "--out", str(tmp_path / "out"), "--learning-rate", "0.01"]
    launch += ["--batch", "4", "--max-length", "512", "--precision", "fp32"]

    ended = subprocess.run(launch, capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("16 examples: 8 failure, 8 clean") == 1
    seen = losses(tmp_path / "out")
    assert len(seen) == 16
    assert seen[-1] < seen[0] / 1.5
    assert (tmp_path / "out/adapter_model.safetensors").exists()
