"""A machine with sites, and `warex exec` on it, by whoever runs the tests and by others."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from tests.exec.support import machine as on_the_machine
from tests.sandbox.support.users import CALLER, ROOT, User, command_as, environment_of, folder_of
from warex.proxy.certificates.ca import ensure_ca, key_file
from warex.sandbox.environment import (
    CA_BUNDLE_VARIABLES,
    EXTRA_CA_VARIABLES,
    NO_PROXY_VARIABLES,
    PROXY_VARIABLES,
    UNSET_VARIABLES,
    both_cases,
)

_ENTER = ROOT / "tests" / "exec" / "support" / "enter.py"
_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


@dataclass
class Machine:
    """A machine of our own (``support/machine.py``)."""

    process: "subprocess.Popen[str]"

    def report(self) -> dict[str, Any]:
        """What was heard on its devices, and who was visited."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        report: dict[str, Any] = json.loads(self.process.stdout.readline())
        return report

    def words(self, who: User, arguments: Sequence[str]) -> list[str]:
        """The command that runs Python with these arguments on the machine."""
        return [sys.executable, str(_ENTER), str(self.process.pid), *command_as(who, arguments)]

    def ran(
        self, who: User, folder: Path, *arguments: object, timeout: float = 90, **more: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run Python with these arguments on the machine."""
        return subprocess.run(
            self.words(who, list(map(str, arguments))),
            env=surroundings(who, folder) | more,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def warex(
        self, who: User, folder: Path, *arguments: object, **more: Any
    ) -> "subprocess.CompletedProcess[str]":
        """Run `warex exec` on the machine."""
        return self.ran(who, folder, "-m", "warex.cli", "exec", *arguments, **more)


def surroundings(who: User, folder: Path) -> dict[str, str]:
    """The environment of somebody whose machine's own certificates are those to trust."""
    ours = {
        *CA_BUNDLE_VARIABLES,
        *EXTRA_CA_VARIABLES,
        *UNSET_VARIABLES,
        *both_cases((*PROXY_VARIABLES, *NO_PROXY_VARIABLES)),
    }
    retained = {
        name: value
        for name, value in environment_of(who, folder).items()
        if name not in ours and not name.startswith("WAREX_")
    }
    # Programs that bring certificates of their own must be told of the machine's.
    reported = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
    return {**retained, "WAREX_CA_DIR": str(folder / "ca"), **dict.fromkeys(reported, _BUNDLE)}


@contextmanager
def machine_of(folder: Path) -> Iterator[Machine]:
    """Give a machine, whose files are in this folder."""
    _make_certificate(folder)
    _make_repository(folder)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.exec.support.machine", str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield Machine(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(10)


def _make_certificate(folder: Path) -> None:
    """One for all the sites, of a CA that is not WAREX's."""
    ca = key_file(ensure_ca(folder / "site-ca").folder)
    names = [x509.DNSName(name) for name in on_the_machine.NAMES]
    addresses = [x509.IPAddress(it) for it in on_the_machine.ADDRESSES]
    authority = x509.load_pem_x509_certificate(ca.read_bytes())
    signs = load_pem_private_key(ca.read_bytes(), None)
    assert isinstance(signs, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name.from_rfc4514_string("CN=shop.test"))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(days=2))
        .not_valid_after(datetime.now(UTC) + timedelta(days=90))
        .add_extension(x509.SubjectAlternativeName([*names, *addresses]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signs.public_key()), critical=False
        )
        .sign(signs, SHA256())
    )
    (folder / "site.crt").write_bytes(certificate.public_bytes(Encoding.PEM))
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    (folder / "site.key").write_bytes(pem)


def _make_repository(folder: Path) -> None:
    """One that a plain site can serve."""
    who = {
        f"GIT_{it}_{what}": "test" for it in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    commit = "$(git commit-tree -m 'The first' $(git mktree </dev/null))"
    script = f"git init -q --bare repo.git; cd repo.git; git update-ref HEAD {commit}"
    subprocess.run(
        ["sh", "-ec", f"{script}; git update-server-info"],
        cwd=folder,
        env={**os.environ, **who},
        check=True,
    )


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with machine_of(tmp_path_factory.mktemp("machine")) as made:
        yield made


@dataclass(frozen=True)
class Desk:
    """Somebody on the machine, with a folder."""

    machine: Machine
    who: User
    folder: Path

    def warex(self, *arguments: object, **more: Any) -> "subprocess.CompletedProcess[str]":
        return self.machine.warex(self.who, self.folder, *arguments, **more)

    def ran(self, *arguments: object, **more: Any) -> "subprocess.CompletedProcess[str]":
        return self.machine.ran(self.who, self.folder, *arguments, **more)


@contextmanager
def desk_of(machine: Machine, who: User) -> Iterator[Desk]:
    """Give somebody a place on the machine."""
    with folder_of(who) as folder:
        yield Desk(machine, who, folder)


__all__ = ["CALLER", "Desk", "Machine", "desk_of", "machine_of"]
