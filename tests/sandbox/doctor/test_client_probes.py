"""A way behind the proxy is called good only after real programs have come through it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from warex.errors import MachineError
from warex.extras import install_command
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.doctor import client_probes
from warex.sandbox.doctor.client_probes import probe_isolation
from warex.sandbox.doctor.finding import Finding
from warex.sandbox.isolation import Isolation
from warex.sandbox.namespace import launcher as namespaces

pytestmark = pytest.mark.wire


def proven(
    isolation: Isolation, forkserver: Forkserver, ca: CertificateAuthority, path: Path | None = None
) -> dict[str, Finding]:
    environment = dict(os.environ) if path is None else {"PATH": str(path), "HOME": str(path)}
    findings = probe_isolation(isolation, forkserver, ca, environment, None, needed=False)
    return {finding.name: finding for finding in findings}


@pytest.mark.parametrize("isolation", ["environment", "namespace"])
def test_a_program_that_gets_another_page_is_broken_and_quoted(
    isolation: Isolation, forkserver: Forkserver, ca: CertificateAuthority, tmp_path: Path
) -> None:
    curl = tmp_path / "curl"
    curl.write_text("#!/bin/sh\necho 'curl: (60) it does not trust this' >&2\nexit 60\n")
    curl.chmod(0o755)

    findings = proven(isolation, forkserver, ca, tmp_path)

    assert findings[f"{isolation}: python"].state == "ok"
    assert findings[f"{isolation}: curl"].state == "broken"
    assert findings[f"{isolation}: curl"].sentence.endswith("curl: (60) it does not trust this")
    assert findings[f"{isolation}: node"].state == "missing"


def test_an_old_node_is_distinguished_from_a_broken_way(
    forkserver: Forkserver, ca: CertificateAuthority, tmp_path: Path
) -> None:
    node = tmp_path / "node"
    node.write_text('#!/bin/sh\ncase "$2" in *versions*) echo "[20,1,0]";; *) exit 1;; esac\n')
    node.chmod(0o755)

    result = proven("environment", forkserver, ca, tmp_path)["environment: node"]

    assert result.state == "broken"
    assert result.sentence.startswith("Node 20.1 ignores proxy variables")


def test_without_playwright_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright", None)
    place: Any = None

    finding = client_probes._probe_playwright(place, Path("chromium"), True)

    assert (finding.state, finding.needed) == ("missing", True)
    assert finding.sentence.endswith(install_command("demo"))


def test_a_machine_without_namespaces_gets_a_remedy(
    forkserver: Forkserver, ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def refused(*args: Any, **kwargs: Any) -> Iterator[None]:
        raise MachineError("no namespace here: do this")
        yield

    monkeypatch.setattr(namespaces, "open_namespace", refused)

    assert proven("namespace", forkserver, ca) == {
        "namespace mode": Finding(
            "namespace mode", "broken", "no namespace here: do this", needed=False
        )
    }
