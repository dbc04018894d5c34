"""A family is complete when it has a file, a test, a catalogue entry and a docs line."""

from pathlib import Path

import pytest

from warex.llm import LLM_APIS, LlmApi

ROOT = Path(__file__).parents[3]


def _files_with_a_family() -> set[str]:
    sources = (ROOT / "src/warex/llm/families").glob("*.py")
    return {path.stem for path in sources if "(LlmApi)" in path.read_text()}


def test_every_file_is_in_the_catalogue() -> None:
    assert {type(f).__module__.rpartition(".")[2] for f in LLM_APIS} == _files_with_a_family()


@pytest.mark.parametrize("family", LLM_APIS, ids=lambda family: family.name)
def test_name_file_test_and_docs_agree(family: LlmApi) -> None:
    docs = (ROOT / "docs/reference/llm.md").read_text()
    endings = ", ".join(f"`{ending}`" for ending in family.path_endings)

    assert type(family).__module__ == f"warex.llm.families.{family.name}"
    assert (ROOT / f"tests/llm/families/test_{family.name}.py").exists()
    assert f"| `{family.name}` | {family.summary} | {endings} |" in docs
