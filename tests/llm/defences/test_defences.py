"""A defence is complete when it has a file, a test, a catalogue entry and a docs line."""

from pathlib import Path

import pytest

from warex.llm.defences import DEFENCES, Defence, defence_of

ROOT = Path(__file__).parents[3]
FILES = {
    path.stem.replace("_", "-")
    for path in (ROOT / "src/warex/llm/defences").glob("*.py")
    if path.stem not in ("__init__", "base")
}


def test_every_file_is_in_the_catalogue() -> None:
    assert {defence.name for defence in DEFENCES} == FILES


@pytest.mark.parametrize("defence", DEFENCES, ids=lambda defence: defence.name)
def test_name_test_and_docs_agree(defence: Defence) -> None:
    docs = (ROOT / "docs/reference/defences.md").read_text("utf-8")

    assert f"| `{defence.name}` | {defence.summary} |" in docs
    assert (Path(__file__).parent / f"test_{defence.name.replace('-', '_')}.py").exists()


def test_a_name_is_looked_up_and_an_unknown_one_refused_with_the_nearest() -> None:
    assert defence_of("refresh").name == "refresh"
    with pytest.raises(ValueError, match="did you mean 'refresh'"):
        defence_of("refersh")
