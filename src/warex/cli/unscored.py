"""What a proxy outside a campaign leaves behind: its outcome, scored or not."""

from contextlib import suppress
from pathlib import Path

from warex.errors import MachineError
from warex.traces import Counted, Unscored, Void, write_outcome


def leave_outcome(out: Path | None, broken: str | None, ended: Counted | Unscored) -> None:
    """Write how the trial in ``out`` came out, its last file; without a folder nothing.

    ``broken`` says why it is void, if it is: the caller raises that, so a disk that refuses even
    this is not said besides. Otherwise raises MachineError where the disk refuses.
    """
    if out is None:
        return
    if broken is None:
        write_outcome(out, ended)
        return
    with suppress(MachineError):
        write_outcome(out, Void(reason=broken))
