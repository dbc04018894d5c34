import errno
import socket
from pathlib import Path

import pytest

from tests.proxy.support.lanes import configured
from warex.errors import InputError
from warex.proxy.ports import check_port, port_unavailable


def test_a_port_in_use_is_reported_before_a_trial_begins() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} on 127.0.0.1 is not available: Address"):
            check_port(configured(ca=Path("unused"), port=port))


def test_a_host_that_does_not_exist_is_named() -> None:
    with pytest.raises(InputError, match=r"host\.invalid is not available: .*[Nn]ame"):
        check_port(configured(ca=Path("unused"), host="no.such.host.invalid", port=1))


def test_any_free_port_is_not_tried() -> None:
    check_port(configured(ca=Path("unused"), host="no.such.host.invalid"))


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (PermissionError(errno.EACCES, "Permission denied (127.0.0.1, 80)"), "Permission denied"),
        (socket.gaierror(socket.EAI_NONAME, "Name not known"), "Name not known"),
        (OSError("no such address"), "no such address"),
    ],
)
def test_a_port_that_is_not_available_is_not_called_in_use(error: OSError, why: str) -> None:
    refusal = port_unavailable(configured(ca=Path("ca"), port=80), error)
    assert str(refusal).startswith(
        f"port 80 on 127.0.0.1 is not available: {why}; give another one"
    )
