"""What is laid over for a command: trust in the CA beside all that was trusted, and no proxy."""

import fcntl
import os
import ssl
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.sandbox.support.fake_proxy import HOST, FakeNetwork, open_fake_network
from tests.sandbox.support.users import LAST, User, folder_of, python_as
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.sandbox.namespace import mount_plan
from warex.sandbox.namespace.mount_plan import plan_mounts
from warex.sandbox.trust import nss_library

_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture(scope="module")
def inside(ca: CertificateAuthority) -> Iterator[FakeNetwork]:
    with open_fake_network(ca, os.environ) as network:
        yield network


def bare() -> dict[str, str]:
    """An environment without variables about trust."""
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


def user(home: Path, **more: str) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    return {"HOME": str(home), "PATH": os.environ["PATH"], **more}


# ---- what is planned


def test_a_bundle_holds_what_it_held_and_our_certificate(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    named = tmp_path / "company.pem"
    named.write_text("the company's\n")

    plan = plan_mounts(ca, user(tmp_path / "home", REQUESTS_CA_BUNDLE=str(named)))

    assert plan.files[named] == b"the company's\n" + ca.certificate.read_bytes()


def test_variables_name_the_bundle_but_for_files_of_the_users_own(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    named = tmp_path / "company.pem"
    named.write_text("the company's\n")
    base = user(tmp_path / "home", NODE_EXTRA_CA_CERTS=str(named), CURL_CA_BUNDLE="/nowhere")

    variables = plan_mounts(ca, base).environment(base).variables

    assert variables["NODE_EXTRA_CA_CERTS"] == str(named)
    assert variables["CURL_CA_BUNDLE"] == variables["SSL_CERT_FILE"] == str(_BUNDLE)


def test_no_variable_names_a_proxy(ca: CertificateAuthority, tmp_path: Path) -> None:
    base = user(
        tmp_path / "home", HTTPS_PROXY="http://p:1", all_proxy="http://p:1", NO_PROXY="*", OTHER="1"
    )

    environment = plan_mounts(ca, base).environment(base)

    assert not [name for name in environment.variables if "proxy" in name.lower()]
    assert environment.variables["OTHER"] == "1"
    assert environment.browser_arguments == ()


def test_a_certificate_folder_gets_the_ca_under_openssls_hash_name(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    folder = tmp_path / "certs"
    folder.mkdir()
    (name,) = [file.name for file in ca.hashed_dir.iterdir()]
    base = user(tmp_path / "home", SSL_CERT_DIR=str(folder))

    assert list(plan_mounts(ca, base).layers[folder]) == [name]
    (folder / name).write_text("another of the same name")
    assert list(plan_mounts(ca, base).layers[folder]) == [name.replace(".0", ".1")]
    assert plan_mounts(ca, base).environment(base).variables["SSL_CERT_DIR"] == str(folder)


def test_a_folder_that_does_not_exist_is_no_longer_named(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    base = user(tmp_path / "home", SSL_CERT_DIR="/nowhere")

    assert "SSL_CERT_DIR" not in plan_mounts(ca, base).environment(base).variables


def test_the_users_own_databases_are_covered_where_they_are(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    theirs = nss_library.database({}, ssl.PEM_cert_to_DER_cert(ca.certificate.read_text()))
    place = tmp_path / "home/.pki/nssdb"
    place.mkdir(parents=True)
    for name, content in theirs.items():
        (place / name).write_bytes(content)

    plan = plan_mounts(ca, user(tmp_path / "home"))

    assert place in plan.files
    assert plan.mount_point is None


def test_without_a_database_one_is_made_where_every_chromium_looks(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    plan = plan_mounts(ca, user(tmp_path / "home"))

    assert plan.mount_point == tmp_path / "home/.pki/nssdb"
    assert plan.mount_point in plan.files
    assert not plan.mount_point.exists()


def test_without_a_home_chromium_uses_another_folder(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    base = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "none")}

    plan = plan_mounts(ca, base)

    assert plan.mount_point is None
    assert plan.environment(base).variables["XDG_DATA_HOME"] == str(ca.folder / "laid/data")


def test_without_nss_it_is_reported_once_and_nothing_fails(
    ca: CertificateAuthority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*values: object) -> dict[str, bytes]:
        raise OSError("there is no libnss3.so")

    monkeypatch.setattr(nss_library, "database", missing)
    fresh = ensure_ca(tmp_path / "ca")

    plan = plan_mounts(fresh, {**user(tmp_path / "home"), "WAREX_CHROMIUM": "/bin/true"})

    assert plan.notices == (
        "Chromium (/bin/true) will not trust WAREX's certificates: there is no libnss3.so",
    )


def test_concurrent_starts_make_the_database_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    really = nss_library.database

    def counted(*values: object) -> dict[str, bytes]:
        made.append(1)
        return really(*values)  # type: ignore[arg-type]

    monkeypatch.setattr(nss_library, "database", counted)
    fresh = ensure_ca(tmp_path / "ca")
    base = user(tmp_path / "home")
    with ThreadPoolExecutor(8) as threads:
        plan = list(threads.map(lambda _: plan_mounts(fresh, base), range(8)))

    assert len(made) == 1
    assert all(each.files == plan[0].files for each in plan)


def test_a_ca_folder_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    fresh = ensure_ca(tmp_path / "ca")
    (fresh.folder / "laid").touch()

    assert plan_mounts(fresh, user(tmp_path / "home")).mount_point is not None


# ---- what programs make of it


@pytest.mark.wire
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["curl", "-sS", f"https://{HOST}/"], marks=pytest.mark.slow),
        [
            sys.executable,
            "-c",
            f"import urllib.request as u; print(u.urlopen('https://{HOST}/').read())",
        ],
        [
            sys.executable,
            "-c",
            "import socket, ssl\n"
            "tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)\n"
            "tls.load_verify_locations(capath='/etc/ssl/certs')\n"
            f"plain = socket.create_connection(('{HOST}', 443))\n"
            f"secure = tls.wrap_socket(plain, server_hostname='{HOST}')\n"
            "secure.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')\n"
            "print(secure.recv(4096))",
        ],
    ],
    ids=["curl", "python", "openssl's folder"],
)
def test_unconfigured_programs_trust_the_ca(inside: FakeNetwork, command: list[str]) -> None:
    code, message = inside.run(*command, variables=bare())

    assert (code, "hello" in message) == (0, True), message


@pytest.mark.slow
@pytest.mark.wire
def test_node_trusts_by_its_variable(inside: FakeNetwork) -> None:
    fetch = f"fetch('https://{HOST}/').then((answer) => answer.text()).then(console.log)"

    assert inside.run("node", "-e", fetch) == (0, "hello\n")


_JAVA = """
import java.net.*;
public class Get {
    public static void main(String[] urls) throws Exception {
        for (String url : urls) {
            var answer = (HttpURLConnection) URI.create(url).toURL().openConnection();
            System.out.println(new String(answer.getInputStream().readAllBytes()));
        }
    }
}
"""


@pytest.mark.slow
@pytest.mark.wire
def test_java_trusts_the_ca_without_options(inside: FakeNetwork, tmp_path: Path) -> None:
    source = tmp_path / "Get.java"
    source.write_text(_JAVA)

    command = ["java", "-XX:TieredStopAtLevel=1", str(source), f"https://{HOST}/"]
    assert inside.run(*command, variables=bare()) == (0, "hello\n")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("who", LAST, ids=str)
def test_chromium_trusts_the_ca_and_home_stays_unchanged(who: User) -> None:
    code = f"""
import os, tempfile
from pathlib import Path
from tests.sandbox.support.fake_proxy import open_fake_network
from warex.proxy.certificates.ca import ensure_ca
from warex.sandbox.chromium import find_chromium, headless_command
ca = ensure_ca()
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    with open_fake_network(ca, os.environ) as inside:
        options = ("--dump-dom", "https://{HOST}/")
        print(inside.run(*headless_command(find_chromium(), Path(profile), options)))
print("pki" if (Path.home() / ".pki").exists() else "clean")
"""
    with folder_of(who) as folder:
        ran = python_as(who, code, folder)

    assert "hello" in ran.stdout, ran
    assert ran.stdout.endswith("clean\n")


@pytest.mark.wire
def test_the_host_sees_nothing_of_it(inside: FakeNetwork, ca: CertificateAuthority) -> None:
    ours = ca.certificate.read_bytes()
    existing = inside.run("cat", str(_BUNDLE))[1]

    assert ours.decode() in existing
    assert ours not in _BUNDLE.read_bytes()
    assert "nameserver 192.0.2.53" in inside.run("cat", "/etc/resolv.conf")[1]
    assert "192.0.2.53" not in Path("/etc/resolv.conf").read_text()


@pytest.mark.wire
def test_what_is_changed_inside_does_not_reach_what_is_kept(
    inside: FakeNetwork, ca: CertificateAuthority
) -> None:
    before = {path: path.read_bytes() for path in ca.folder.rglob("*") if path.is_file()}
    code, message = inside.run("sh", "-c", f"echo changed >> {_BUNDLE} && cat {_BUNDLE}")

    assert (code, message.endswith("changed\n")) == (0, True)
    assert {path: path.read_bytes() for path in before} == before
    with open_fake_network(ca, os.environ) as another:
        assert "changed" not in another.run("cat", str(_BUNDLE))[1]


@pytest.mark.wire
def test_a_mount_point_in_use_stays_until_the_last_has_ended(
    ca: CertificateAuthority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    place = home / ".pki/nssdb"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    with open_fake_network(ca, os.environ) as first:
        with open_fake_network(ca, os.environ) as second:
            for each in (first, second):
                assert "cert9.db" in each.run("ls", str(place))[1]
        assert "cert9.db" in first.run("ls", str(place))[1]
        assert list(place.iterdir()) == []
    assert list(home.iterdir()) == []


@pytest.mark.wire
def test_a_mount_point_into_which_somebody_wrote_stays(
    ca: CertificateAuthority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    with open_fake_network(ca, os.environ):
        (tmp_path / ".pki/nssdb/cert9.db").write_text("a browser's outside")

    assert (tmp_path / ".pki/nssdb/cert9.db").read_text() == "a browser's outside"


@pytest.mark.wire
def test_a_mount_point_that_another_holds_is_left_to_them(
    ca: CertificateAuthority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    place = tmp_path / ".pki/nssdb"
    with open_fake_network(ca, os.environ):
        holder = os.open(place, os.O_RDONLY)
        fcntl.flock(holder, fcntl.LOCK_SH)
    try:
        assert place.is_dir()
    finally:
        os.close(holder)


def test_the_reference_names_every_place_that_is_laid_over() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/namespace.md").read_text()

    for place in (
        *mount_plan._BUNDLES,
        *mount_plan._HASHED,
        *mount_plan._ANCHORS,
        mount_plan._RESOLVER_SOCKETS[0],
    ):
        assert f"`{place}`" in page
