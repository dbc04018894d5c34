import pytest
from pydantic import ValidationError

from tests.faults.calls import CALLS
from warex.effects import CutStream, Truncate
from warex.faults.llm.llm_cut import LlmCut
from warex.llm.base import StreamPoint
from warex.seeds import KeyedRng


def test_the_models_own_answer_is_truncated() -> None:
    effects, _ = LlmCut(share=0.25, how="reset").effects(CALLS[0], {}, KeyedRng(1, "r"))

    assert effects == (Truncate(0.25, "reset"),)


@pytest.mark.parametrize("before", ["finish", "end_marker"])
def test_a_stream_may_lack_only_its_end(before: str) -> None:
    fault = LlmCut.model_validate({"before": before, "how": "clean"})

    effects, _ = fault.effects(CALLS[0], {}, KeyedRng(1, "r"))

    assert effects == (CutStream(StreamPoint(before=before), "clean"),)  # type: ignore[arg-type]
    assert fault.needs_stream
    assert not LlmCut().needs_stream
    assert LlmCut.model_validate(fault.model_dump(mode="json")) == fault


def test_a_cut_has_one_place() -> None:
    with pytest.raises(ValidationError, match="two places; give one"):
        LlmCut(share=0.5, before="finish")


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan"), True, "0.5"])
def test_an_invalid_share_is_refused_by_name(share: object) -> None:
    with pytest.raises(ValidationError, match="share"):
        LlmCut.model_validate({"share": share})
