from pathlib import Path

import pytest

from warex.errors import InputError, MachineError
from warex.report.ci.outputs import CiOutputs


def test_a_file_that_cannot_be_written_is_an_error_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(InputError, match=r"--junit .*: this is a folder"):
        CiOutputs(junit=tmp_path).check()
    with pytest.raises(MachineError, match="a file is in its place"):
        CiOutputs(sarif=tmp_path / "file" / "x.sarif").check()
    with pytest.raises(InputError, match="--warex-junit-trials adds cases to --warex-junit FILE"):
        CiOutputs(junit_trials=True).check("--warex-")


def test_the_folder_of_a_file_is_made(tmp_path: Path) -> None:
    CiOutputs(junit=tmp_path / "new" / "a.xml").check()

    assert (tmp_path / "new").is_dir()
