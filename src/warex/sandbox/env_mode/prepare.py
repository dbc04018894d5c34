"""Prepares environment mode: variables, certificates, browser shims."""

import os
import shlex
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.chromium import QUIET_FLAGS, root_flags, spki_flag
from warex.sandbox.cleanup.reaper import Reaper
from warex.sandbox.cleanup.symlink_tree import create_symlink_tree
from warex.sandbox.env_mode.browser_shims import write_shims
from warex.sandbox.env_mode.ca_bundle import combined_bundles, write_wgetrc
from warex.sandbox.environment import JAVA, Environment, java_options, proxied_environment
from warex.sandbox.namespace.mount_plan import trusted_database
from warex.sandbox.trust.java import IN_HOME, add_certificate, find_truststores

DATA_HOME = "XDG_DATA_HOME"
NODE = "NODE_OPTIONS"
_NODE_PROXY = Path(__file__).with_name("node_proxy.js")
_STORE = "-Djavax.net.ssl.trustStore="


def prepare_environment(
    base: Mapping[str, str], proxy: str, ca: CertificateAuthority, reaper: Reaper
) -> Environment:
    """Write the command's files into the reaper's scratch folder; return its environment."""
    scratch = reaper.scratch
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
        reaper.watch_symlinks(tree)
    if shims.variables and (data := _data_home(base, ca, reaper)) is not None:
        variables[DATA_HOME] = str(data)
    return Environment(variables, behind.browser_arguments)


def _node(base: Mapping[str, str], scratch: Path) -> str:
    """Return the user's ``NODE_OPTIONS`` and a script that makes an older Node use the proxy."""
    # .cjs is CommonJS whatever a package.json says.
    program = shutil.copyfile(_NODE_PROXY, scratch / "proxy.cjs")
    return " ".join(filter(None, (base.get(NODE, "").strip(), f"--require={program}")))


def _java_store(base: Mapping[str, str], ca: CertificateAuthority, scratch: Path) -> Path | None:
    """Write Java's truststore with the CA added; return None without Java."""
    with suppress(ValueError, OSError):
        if (theirs := _current_truststore(base)) is not None:
            store = scratch / "cacerts"
            store.write_bytes(add_certificate(theirs.read_bytes(), ca.der))
            return store
    return None


def _current_truststore(base: Mapping[str, str]) -> Path | None:
    """Return the truststore that Java would read: the one in its options, else its own."""
    named = [word for word in shlex.split(base.get(JAVA, "")) if word.startswith(_STORE)]
    if named:
        return Path(named[-1].removeprefix(_STORE))
    stores = find_truststores(base)
    if program := shutil.which("java", path=base.get("PATH", os.defpath)):
        home = Path(base.get("JAVA_HOME") or Path(program).resolve().parents[1])
        for place in IN_HOME:
            if (own := (home / place).resolve()) in stores:
                return own
    return stores[0] if stores else None


def _data_home(base: Mapping[str, str], ca: CertificateAuthority, reaper: Reaper) -> Path | None:
    """Return a symlink tree of the user's data whose NSS database trusts the CA.

    Return None if Chromium would use ``~/.pki`` instead, or the database cannot be made.
    """
    home = Path(base.get("HOME") or "/nonexistent")
    if (home / ".pki" / "nssdb").exists():
        return None
    real = Path(base.get(DATA_HOME) or home / ".local" / "share")
    shadow = reaper.scratch / "data"
    try:
        files = trusted_database(ca, real / "pki" / "nssdb")
    except OSError:
        return None  # NSS is missing; the shims still cover the browsers that were found.
    store = shadow / "pki" / "nssdb"
    store.mkdir(parents=True)
    for name, content in files.items():
        (store / name).write_bytes(content)
    reaper.watch_symlinks(create_symlink_tree(real, shadow, [real / "pki"]))
    return shadow


def browser_flags(proxy: str, ca: CertificateAuthority) -> tuple[str, ...]:
    """Return the flags by which all pages of a browser come through the proxy."""
    # The bypass list includes sites on loopback.
    behind = (f"--proxy-server={proxy}", "--proxy-bypass-list=<-loopback>", spki_flag(ca))
    return (*behind, *QUIET_FLAGS, *root_flags())
