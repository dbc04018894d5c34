"""Where WAREX does not run, one sentence says where it does."""

import ast
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import warex
from warex.cli import main

SOURCE = Path(warex.__file__)


@pytest.mark.parametrize(
    ("program", "raised"),
    [("/usr/bin/agent.py", ImportError), ("-m", SystemExit), ("/usr/bin/warex", SystemExit)],
)
def test_an_older_python_is_refused_with_the_needed_version(
    monkeypatch: pytest.MonkeyPatch, program: str, raised: type[BaseException]
) -> None:
    text = SOURCE.read_text(encoding="utf-8")
    # It must get as far as the sentence.
    ast.parse(text, feature_version=(3, 8))
    older = SimpleNamespace(version_info=(3, 11, 7), executable="/usr/bin/python3", argv=[program])
    monkeypatch.setitem(sys.modules, "sys", older)

    with pytest.raises(raised) as error:
        exec(compile(text, SOURCE, "exec"), {"__name__": "warex"})

    assert str(error.value) == "WAREX needs Python 3.12 or newer, and /usr/bin/python3 is 3.11.7"


def test_an_older_python_can_read_the_version_when_it_builds_the_package() -> None:
    # Then pip says which Python is needed; of a SyntaxError it shows a traceback.
    tree = ast.parse(SOURCE.with_name("version.py").read_text("utf-8"), feature_version=(3, 8))

    assert [type(it) for it in tree.body] == [ast.Expr, ast.Assign, ast.Expr]


def test_windows_is_refused_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")

    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    with pytest.raises(ImportError, match="not on Windows"):
        warex.__getattr__("intercept")

    assert ended.value.code == 3
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence == "warex: WAREX runs on Linux and macOS, not on Windows: use it inside WSL 2"
