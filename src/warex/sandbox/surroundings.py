"""All that environment mode puts around a command: variables, certificates, browsers' shims."""

import os
from collections.abc import Mapping

from warex.proxy.ca import CertificateAuthority
from warex.sandbox.chromium import QUIET
from warex.sandbox.environment import Environment, behind_proxy, trusts
from warex.sandbox.guard import Guard
from warex.sandbox.merged import own_bundles, wgetrc
from warex.sandbox.shims import make_shims


def surround(
    base: Mapping[str, str], proxy: str, ca: CertificateAuthority, guard: Guard
) -> Environment:
    """Write what the command needs into the guard's scratch folder; return its environment."""
    scratch = guard.scratch
    bundle = ca.bundle(scratch / "bundle.pem")
    behind = behind_proxy(base, proxy, ca, bundle, own_bundles(base, ca, scratch))
    variables = dict(behind.variables)
    variables["WGETRC"] = str(wgetrc(base, proxy, bundle, scratch))
    shims = make_shims(base, browser_flags(proxy, ca), scratch)
    variables |= shims.variables
    for farm in shims.farms:
        guard.tend(farm)
    return Environment(variables, behind.browser_arguments)


def browser_flags(proxy: str, ca: CertificateAuthority) -> tuple[str, ...]:
    """Return what a browser is started with, so that all of its pages come through the proxy."""
    # Chromium refuses its sandbox to root, and many harnesses do not know.
    as_root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    return (
        f"--proxy-server={proxy}",
        # Sites on this machine, too; only the browser is told, so drivers' channels stay direct.
        "--proxy-bypass-list=<-loopback>",
        trusts(ca),
        *QUIET,
        *as_root,
    )
