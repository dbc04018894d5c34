"""The files that a CI server reads. It imports nothing slow, for commands that run first."""

from dataclasses import dataclass
from pathlib import Path

from warex.errors import InputError
from warex.files.private import make_private_dir
from warex.traces.files import write_error


@dataclass(frozen=True, slots=True)
class CiOutputs:
    """What is written, and where."""

    junit: Path | None = None
    junit_trials: bool = False
    """Whether each trial is a case, too."""
    sarif: Path | None = None

    def check(self, prefix: str = "--") -> None:
        """Raise an error if a file cannot be written, before anything runs.

        ``prefix``: of the options' names.
        """
        if self.junit_trials and self.junit is None:
            raise InputError(
                f"{prefix}junit-trials adds cases to {prefix}junit FILE, which is not given"
            )
        for option, path in ((f"{prefix}junit", self.junit), (f"{prefix}sarif", self.sarif)):
            if path is None:
                continue
            if path.is_dir():
                raise InputError(f"{option} {path}: this is a folder; name a file, new or not")
            try:
                make_private_dir(path.parent)
            except OSError as error:
                raise write_error(path, error) from error
