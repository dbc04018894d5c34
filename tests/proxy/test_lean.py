"""A proxy process loads the addons that it uses, and they are mitmproxy's own."""

import json
import subprocess
import sys

import pytest

_LOADED = """
import json, sys
from warex.proxy.lean import load_only_what_is_used
load_only_what_is_used()
import warex.proxy.process
from mitmproxy.addons import core, next_layer, proxyserver, tlsconfig
ours = [core.Core, next_layer.NextLayer, proxyserver.Proxyserver, tlsconfig.TlsConfig]
print(json.dumps({
    "files": [sys.modules[it.__module__].__file__ for it in ours],
    "addons": sorted(it for it in sys.modules if it.startswith("mitmproxy.addons.")),
    "others": [it for it in ("flask", "ldap3", "werkzeug", "jinja2") if it in sys.modules],
}))
"""

_AFTERWARDS = """
import mitmproxy.addons
from warex.proxy.lean import load_only_what_is_used
load_only_what_is_used()
assert len(mitmproxy.addons.default_addons()) > 20
"""


def _run(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.wire
def test_only_the_addons_that_are_used_are_loaded_and_they_are_the_real_ones() -> None:
    found = json.loads(_run(_LOADED))
    stems = ("core", "next_layer", "proxyserver", "tlsconfig")
    wanted = [f"mitmproxy/addons/{stem}.py" for stem in stems]
    assert all(it.endswith(end) for it, end in zip(found["files"], wanted, strict=True))
    assert set(found["addons"]) == {f"mitmproxy.addons.{it}" for it in (*stems, "termlog")}
    assert found["others"] == []


@pytest.mark.wire
def test_where_mitmproxy_has_its_addons_they_stay() -> None:
    _run(_AFTERWARDS)
