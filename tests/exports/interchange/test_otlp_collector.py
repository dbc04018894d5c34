"""A collector that others wrote takes what is sent, and hands on the same."""

import os
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.exports.conftest import Program
from tests.exports.interchange.otlp_receiver import Receiver
from tests.exports.runs import several_sites
from tests.ports import reserved_port
from warex.exports.interchange.otlp_http import read_address
from warex.exports.run_formats import RunExport, export_runs


def send(run: Path, receiver: str) -> None:
    for line in export_runs(RunExport("otel", (run,), Path(), address=read_address(receiver))):
        assert line.startswith("otel       3 trials: ")


def spans(receiver: Receiver) -> list[tuple[str, bytes]]:
    """Return the spans that were received, each with its schema, in an order of their own."""
    return sorted(
        (resource.schema_url, span.SerializeToString(deterministic=True))
        for request in receiver.requests
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    )


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Return once something listens at a port."""
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=30).close()
        except ConnectionRefusedError:
            continue
        return
    raise AssertionError(f"the collector ended with {process.returncode}")


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.skipif(
    sys.platform != "linux"
    or sys.version_info >= (3, 14)
    or not sysconfig.get_config_var("Py_ENABLE_SHARED"),
    reason="the collector (rotel) needs Linux, a Python up to 3.13 and its shared library",
)
def test_a_collector_takes_all_spans(
    python_with: Callable[[str], Program], receiver: Receiver, tmp_path: Path
) -> None:
    several_sites(tmp_path / "run", ("shop",))
    send(tmp_path / "run", receiver.origin)
    direct = spans(receiver)
    receiver.requests.clear()

    module = python_with("rotel")("-c", "import rotel; print(rotel.__file__)").strip()
    http, grpc = reserved_port(), reserved_port()
    with subprocess.Popen(
        [
            Path(module).with_name("rotel-agent"),
            "start",
            *("--otlp-http-endpoint", f"127.0.0.1:{http}"),
            *("--otlp-grpc-endpoint", f"127.0.0.1:{grpc}"),
            *("--otlp-exporter-endpoint", receiver.origin),
            *("--otlp-exporter-protocol", "http"),
        ],
        env={**os.environ, "LD_LIBRARY_PATH": sysconfig.get_config_var("LIBDIR")},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
    ) as collector:
        try:
            wait_for(http, collector)
            send(tmp_path / "run", f"http://127.0.0.1:{http}")
        finally:
            collector.terminate()  # It hands on what it has before it ends.

    assert collector.returncode == 0
    assert len(direct) > 3
    assert spans(receiver) == direct
