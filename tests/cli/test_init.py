from pathlib import Path

import pytest

from tests.cli.conftest import Warex


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_is_written_can_be_run(warex: Warex, tmp_path: Path) -> None:
    said = warex("init", "mine")

    assert said.code == 0
    assert "warex run mine.toml" in said.out
    assert "30 trials" in warex("run", "mine.toml", "--dry-run").out


def test_a_file_that_is_there_is_never_overwritten(warex: Warex, tmp_path: Path) -> None:
    (tmp_path / "my-agent.toml").write_text("mine")

    said = warex("init")

    assert said.code == 2
    assert said.err == "warex: my-agent.toml is there already; give another name, or remove it\n"
    assert (tmp_path / "my-agent.toml").read_text() == "mine"


def test_a_name_may_be_the_files(warex: Warex, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()

    assert warex("init", "sub/mine.toml", "--benchmark", "command").code == 0

    assert 'name = "mine"' in (tmp_path / "sub/mine.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--benchmark", "tesbed"), "there is no benchmark 'tesbed'; did you mean 'testbed'?"),
        (("none/mine",), "none is no folder; make it first"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(
    warex: Warex, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    said = warex("init", *arguments)

    assert said.code == 2
    assert said.err.startswith(f"warex: {says}")
    assert not list(tmp_path.glob("**/*.toml"))
