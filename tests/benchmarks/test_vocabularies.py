from pathlib import Path

import pytest

from warex.benchmarks import benchmark_kind
from warex.benchmarks.vocabularies import find_vocabulary
from warex.errors import InputError


def test_a_benchmark_s_name_gives_its_vocabulary() -> None:
    assert find_vocabulary("webvoyager").names == benchmark_kind("webvoyager").vocabulary.names


def test_a_file_holds_the_lists(tmp_path: Path) -> None:
    file = tmp_path / "words.toml"
    file.write_text('navigate = ["open"]\nrecover = ["open"]\nfinish = ["end"]\n', "utf-8")

    assert find_vocabulary(str(file)).recover == ("open",)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("webvoyagr", "", "did you mean 'webvoyager'"),
        ("none.toml", None, "does not exist"),
        ("words.toml", 'retry = ["reload"]', "recover must name too"),
        ("words.toml", 'navigat = ["open"]', "navigat"),
    ],
)
def test_what_is_not_a_vocabulary_is_reported(
    name: str, text: str | None, says: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    if text is not None:
        file.write_text(text, "utf-8")

    with pytest.raises(InputError) as error:
        find_vocabulary(str(file) if "." in name else name)
    assert says in str(error.value)
