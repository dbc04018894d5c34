from pathlib import Path
from typing import Any

import pytest

from tests.training.tiny_model import tiny_model
from warex.training.fine_tuning.loss_mask import mask_prompt_loss
from warex.training.model.loading import load_model

pytestmark = pytest.mark.slow


def test_on_cpu_scoring_only_answer_tokens_gives_the_same_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    import trl.trainer.utils as utils

    scored: list[int] = []

    class Counted(utils._ChunkedLogProbFunction):  # type: ignore[misc]
        @classmethod
        def apply(cls, hidden: Any, *more: Any) -> Any:
            scored.append(len(hidden))
            return super().apply(hidden, *more)

    monkeypatch.setattr(utils, "_ChunkedLogProbFunction", Counted)
    # As it is before a training of this process has changed it.
    monkeypatch.setattr(utils, "_use_triton", lambda device: device.type == "cuda")
    model = load_model(str(tiny_model(tmp_path / "m")), device="cpu", precision="fp32").model
    utils.add_fused_lm_head(model)
    tokens = torch.arange(20).reshape(1, 20)
    labels = torch.where(tokens > 16, tokens, -100)

    def loss() -> float:
        return float(model(input_ids=tokens, labels=labels, fused_lm_head=True).loss.detach())

    before = loss()
    assert mask_prompt_loss("cpu")
    assert loss() == pytest.approx(before)
    assert scored == [19, 3]


def test_a_card_is_left_to_trl() -> None:
    assert not mask_prompt_loss("cuda:0")
