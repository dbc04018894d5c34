"""What the doctor finds, on this machine and on machines that lack something."""

import os
import resource
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.sandbox.doctor import machine
from warex.sandbox.doctor.finding import Finding
from warex.sandbox.doctor.machine import check_machine


@pytest.fixture
def ca(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CertificateAuthority:
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path / "ca"))
    return ensure_ca()


def findings_of(environment: Mapping[str, str] | None = None) -> dict[str, Finding]:
    """The findings by name."""
    return {
        each.name: each
        for each in check_machine(os.environ if environment is None else environment)
    }


def until(name: str) -> Finding:
    """The one finding, without waiting for those that follow."""
    findings = check_machine()
    try:
        return next(each for each in findings if each.name == name)
    finally:
        findings.close()  # type: ignore[attr-defined]


@pytest.mark.browser
@pytest.mark.slow
def test_all_is_well_on_a_machine_that_passes_these_tests(ca: CertificateAuthority) -> None:
    findings = findings_of()

    assert [each for each in findings.values() if each.needed and each.state != "ok"] == []
    assert {"proxy", "chromium", "playwright"} <= findings.keys()
    for mode in ("environment", "namespace"):
        assert findings[f"{mode} mode"].state == "ok"
        for program in ("python", "curl", "chromium"):
            assert findings[f"{mode}: {program}"].state == "ok"
    assert findings["namespace: node"].state == "ok"
    assert findings["certificates"].sentence.startswith(str(ca.certificate))


@pytest.mark.slow
@pytest.mark.wire
def test_missing_programs_are_named_for_installation(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    findings = findings_of({"PATH": str(tmp_path), "HOME": str(tmp_path)})

    assert findings["proxy"].state == findings["environment: python"].state == "ok"
    for name in ("curl", "node"):
        assert findings[f"environment: {name}"].state == "missing"
        assert not findings[f"environment: {name}"].needed
    assert findings["chromium"].state == "missing"
    assert "playwright install chromium" in findings["chromium"].sentence
    assert "environment: chromium" not in findings


def test_without_certificates_nothing_more_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path / "file" / "ca"))
    findings = list(check_machine())

    assert findings[-1].name == "certificates"
    assert findings[-1].state == "broken"
    assert "WAREX_CA_DIR" in findings[-1].sentence


def test_a_key_that_others_can_read_is_broken(ca: CertificateAuthority) -> None:
    (ca.folder / "mitmproxy-ca.pem").chmod(0o644)
    finding = until("certificates")

    assert finding.state == "broken"
    assert "(mode 0644): chmod 600 it" in finding.sentence


def test_a_damaged_certificate_is_broken(ca: CertificateAuthority) -> None:
    ca.certificate.write_text("rubbish")

    assert "is damaged" in until("certificates").sentence


def test_a_certificate_past_its_day_is_broken(ca: CertificateAuthority) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "past")])
    day = datetime(2020, 1, 2, tzinfo=UTC)
    past = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(day - timedelta(days=1))
        .not_valid_after(day)
        .sign(key, hashes.SHA256())
    )
    ca.certificate.write_bytes(past.public_bytes(Encoding.PEM))

    assert "was valid until 2020-01-02: delete" in until("certificates").sentence


def test_a_disk_that_is_nearly_full_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1_000_000))

    assert until("disk").state == "broken"
    assert "free some space" in until("disk").sentence


@pytest.mark.parametrize(
    ("soft", "state"), [(256, "broken"), (1024, "ok"), (resource.RLIM_INFINITY, "ok")]
)
def test_too_few_open_files_are_broken(
    soft: int, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (soft, soft))

    assert until("open files").state == state


def test_an_old_python_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "MIN_PYTHON", (4, 0))

    assert until("python version").sentence.endswith("; WAREX needs 4.0 or newer")
