"""All that environment mode puts around a command: variables, certificates, browsers' shims."""

import os
import shlex
import shutil
import ssl
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.chromium import QUIET_FLAGS
from warex.sandbox.cleanup.reaper import Reaper
from warex.sandbox.cleanup.symlink_tree import create_symlink_tree
from warex.sandbox.env_mode.browser_shims import write_shims
from warex.sandbox.env_mode.ca_bundle import combined_bundles, write_wgetrc
from warex.sandbox.environment import (
    JAVA,
    Environment,
    java_options,
    proxied_environment,
    spki_flag,
)
from warex.sandbox.namespace.mount_plan import trusted_database
from warex.sandbox.trust.java import add_certificate, find_truststores

DATA_HOME = "XDG_DATA_HOME"
NODE = "NODE_OPTIONS"
_NODE_PROXY = Path(__file__).with_name("node_proxy.js")
_STORE = "-Djavax.net.ssl.trustStore="


def prepare_environment(
    base: Mapping[str, str], proxy: str, ca: CertificateAuthority, guard: Reaper
) -> Environment:
    """Write what the command needs into the guard's scratch folder; return its environment."""
    scratch = guard.scratch
    bundle = ca.bundle(scratch / "bundle.pem")
    behind = proxied_environment(base, proxy, ca, bundle, combined_bundles(base, ca, scratch))
    variables = dict(behind.variables)
    variables["WGETRC"] = str(write_wgetrc(base, proxy, bundle, scratch))
    variables[NODE] = _node(base, scratch)
    if (store := _java_store(base, ca, scratch)) is not None:
        variables[JAVA] = java_options(variables, f"{_STORE}{store}")
    shims = write_shims(base, browser_flags(proxy, ca), scratch)
    variables |= shims.variables
    for tree in shims.symlink_trees:
        guard.watch_symlinks(tree)
    if shims.variables and (data := _data_home(base, ca, guard)) is not None:
        variables[DATA_HOME] = str(data)
    return Environment(variables, behind.browser_arguments)


def _node(base: Mapping[str, str], scratch: Path) -> str:
    """Return what the user gives every Node, and what makes an older one heed the variables."""
    # A name by which Node knows it for what it is, whatever a package.json nearby says.
    program = shutil.copyfile(_NODE_PROXY, scratch / "proxy.cjs")
    return " ".join(filter(None, (base.get(NODE, "").strip(), f"--require={program}")))


def _java_store(base: Mapping[str, str], ca: CertificateAuthority, scratch: Path) -> Path | None:
    """Write whom Java trusts, and the CA; None where there is no Java."""
    with suppress(ValueError, OSError):
        if (theirs := _current_truststore(base)) is not None:
            store = scratch / "cacerts"
            store.write_bytes(add_certificate(theirs.read_bytes(), _der(ca)))
            return store
    return None


def _current_truststore(base: Mapping[str, str]) -> Path | None:
    """Return the file that Java would read: the one that is named, else its own."""
    named = [word for word in shlex.split(base.get(JAVA, "")) if word.startswith(_STORE)]
    if named:
        return Path(named[-1].removeprefix(_STORE))
    stores = find_truststores(base)
    if program := shutil.which("java", path=base.get("PATH", os.defpath)):
        home = Path(base.get("JAVA_HOME") or Path(program).resolve().parents[1])
        for place in ("lib/security/cacerts", "jre/lib/security/cacerts"):
            if (own := (home / place).resolve()) in stores:
                return own
    return stores[0] if stores else None


def _data_home(base: Mapping[str, str], ca: CertificateAuthority, guard: Reaper) -> Path | None:
    """Return a view of the user's data with Chromium's store of certificates in it, ours too.

    None where Chromium would not look there, having one in the home itself, or cannot be told.
    """
    home = Path(base.get("HOME") or "/nonexistent")
    if (home / ".pki" / "nssdb").exists():
        return None
    real = Path(base.get(DATA_HOME) or home / ".local" / "share")
    shadow = guard.scratch / "data"
    try:
        files = trusted_database(ca, real / "pki" / "nssdb")
    except OSError:
        return None  # Without its library; the shims tell those browsers that can be found.
    store = shadow / "pki" / "nssdb"
    store.mkdir(parents=True)
    for name, content in files.items():
        (store / name).write_bytes(content)
    guard.watch_symlinks(create_symlink_tree(real, shadow, [real / "pki"]))
    return shadow


def _der(ca: CertificateAuthority) -> bytes:
    return ssl.PEM_cert_to_DER_cert(ca.certificate.read_text())


def browser_flags(proxy: str, ca: CertificateAuthority) -> tuple[str, ...]:
    """Return what a browser is started with, so that all of its pages come through the proxy."""
    # Chromium refuses its sandbox to root, and many harnesses do not know.
    as_root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    return (
        f"--proxy-server={proxy}",
        # Sites on this machine, too; only the browser is told, so drivers' channels stay direct.
        "--proxy-bypass-list=<-loopback>",
        spki_flag(ca),
        *QUIET_FLAGS,
        *as_root,
    )
