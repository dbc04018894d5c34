"""The loss falls on the answer and its end alone, in the shape of each family's chat template."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.exports.builders import MANIFEST, failure, row
from tests.training.tiny_model import tiny_model
from warex.errors import InputError
from warex.exports.dataset import Dataset, UnwrittenDataset, read_dataset, write_dataset
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.fine_tuning.trainer import _trainer, train
from warex.training.model.loading import LoadedModel, load_model
from warex.training.trl_data import examples

pytestmark = pytest.mark.slow

ROLES = "{% for m in messages %}"
DONE = "{% endfor %}{% if add_generation_prompt %}"

TEMPLATES: Final[dict[str, tuple[str, str]]] = {
    # As SmolLM2 and Qwen 2.5: a default system message.
    "chatml": (
        "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nHelp.<|im_end|>\n{% endif %}"
        + ROLES
        + "<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
        + DONE
        + "<|im_start|>assistant\n{% endif %}",
        "<|im_end|>\n",
    ),
    "llama-3": (
        "<|begin_of_text|>"
        + ROLES
        + "<|start_header_id|>{{ m['role'] }}<|end_header_id|>\n\n{{ m['content'] | trim }}"
        "<|eot_id|>" + DONE + "<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}",
        "<|eot_id|>",
    ),
    # As Qwen 3: thoughts of earlier answers are left out.
    "qwen-3": (
        ROLES + "{% set content = m['content'].split('</think>')[-1] if m['role'] == 'assistant'"
        " and not loop.last else m['content'] %}"
        "<|im_start|>{{ m['role'] }}\n{{ content }}<|im_end|>\n"
        + DONE
        + "<|im_start|>assistant\n{% endif %}",
        "<|im_end|>\n",
    ),
    # As Mistral: nothing opens an answer.
    "mistral": (
        "<s>" + ROLES + "{% if m['role'] == 'user' %}[INST] {{ m['content'] }}[/INST]"
        "{% elif m['role'] == 'assistant' %} {{ m['content'] | trim }}</s>{% endif %}{% endfor %}",
        "</s>",
    ),
    # As Gemma: an answer's role is "model".
    "gemma": (
        "<bos>{% if messages[0]['role'] == 'system' %}"
        "{{ raise_exception('System role not supported') }}{% endif %}"
        + ROLES
        + "{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}"
        "<start_of_turn>{{ role }}\n{{ m['content'] | trim }}<end_of_turn>\n"
        + DONE
        + "<start_of_turn>model\n{% endif %}",
        "<end_of_turn>\n",
    ),
}
"""The template of each family, and how an answer ends."""

EARLIER = [
    {"role": "user", "content": "# Goal\n\nSave.\n\n[1] button 'Save'"},
    {"role": "assistant", "content": "<think>Now.</think>I look.\nnoop(100)"},
    {"role": "user", "content": "[1] button 'Save'"},
    {"role": "assistant", "content": "I save.\nclick('1')"},
]
ROWS = [row("one"), failure("two"), row("turns", messages=EARLIER)]
RECIPE = Hyperparameters(at_once=1, batch=1, epochs=1, max_length=512, precision="fp32")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    write_dataset(tmp_path / "data", UnwrittenDataset(MANIFEST, {"train": ROWS}), lambda _: "")
    return read_dataset(tmp_path / "data")


def learnt(loaded: LoadedModel, data: Dataset, out: Path) -> list[str]:
    """Return the text on which the loss of each row falls, as TRL's batches have it."""

    def length(messages: Any) -> int:
        return len(loaded.tokenizer.apply_chat_template(messages, return_dict=False))

    some, _ = examples(data.rows("train"), length, RECIPE.max_length)
    trainer = _trainer(loaded, data, some, [], out, RECIPE, None, lambda progress: None)
    texts: list[str] = []
    for batch in trainer.get_train_dataloader():
        (labels,) = batch["labels"].tolist()
        (tokens,) = batch["input_ids"].tolist()
        masked = labels.count(-100)
        assert labels == [*[-100] * masked, *tokens[masked:]]
        texts.append(loaded.tokenizer.decode([it for it in labels if it != -100]))
    return texts


@pytest.mark.parametrize("family", TEMPLATES)
def test_the_loss_falls_on_the_answer_and_its_end_alone(
    tmp_path: Path, folder: Path, data: Dataset, family: str
) -> None:
    template, end = TEMPLATES[family]
    loaded = load_model(str(folder), precision="fp32", device="cpu")
    loaded.tokenizer.chat_template = template

    texts = learnt(loaded, data, tmp_path / "out")

    wanted = [f"{it.answer['content']}{end}" for it in ROWS]
    assert sorted(it.strip(" ") for it in texts) == sorted(wanted)


@pytest.mark.parametrize(
    ("template", "messages", "why"),
    [
        (TEMPLATES["gemma"][0], [{"role": "system", "content": "Act."}, *EARLIER], "System role"),
        # The number of messages is before them.
        ("{{ messages | length }}" + TEMPLATES["chatml"][0], EARLIER, "cannot be separated from"),
    ],
)
def test_a_template_that_moves_the_answer_is_refused(
    tmp_path: Path, template: str, messages: Any, why: str
) -> None:
    model = tiny_model(tmp_path / "model", template)
    rows = [row("r1", messages=messages)]
    write_dataset(tmp_path / "data", UnwrittenDataset(MANIFEST, {"train": rows}), lambda _: "")

    with pytest.raises(InputError, match=why):
        train(read_dataset(tmp_path / "data"), str(model), tmp_path / "out", RECIPE, one_sided=True)
