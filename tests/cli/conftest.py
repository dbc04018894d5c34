from collections.abc import Callable
from dataclasses import dataclass

import pytest

from warex.cli import main


@dataclass(frozen=True)
class Output:
    """What a command came to."""

    code: int
    out: str
    err: str


type Warex = Callable[..., Output]


@pytest.fixture
def warex(capsys: pytest.CaptureFixture[str]) -> Warex:
    """Runs a command line in this process, as `warex …` would."""

    def run(*arguments: object) -> Output:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Output(ended.value.code, out, err)

    return run
