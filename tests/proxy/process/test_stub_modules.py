"""A proxy process loads of mitmproxy what it uses, and that is mitmproxy's own."""

import json
import subprocess
import sys

import pytest

_LOADED = """
import json, sys
from warex.proxy.process.stub_modules import STUBBED, install_stubs
install_stubs()
import warex.proxy.process.worker
from mitmproxy.addons import core, next_layer, proxyserver, tlsconfig
from mitmproxy.proxy.layers import http, tcp, tls, websocket
used = [core, next_layer, proxyserver, tlsconfig, http, tcp, tls, websocket]
print(json.dumps({
    "files": [it.__file__ for it in used],
    "addons": sorted(it for it in sys.modules if it.startswith("mitmproxy.addons.")),
    "stand_ins": [it for it in STUBBED if not hasattr(sys.modules.get(it), "__file__")],
    "others": [it for it in sys.modules if it.split(".")[0] in (
        "flask", "ldap3", "werkzeug", "jinja2", "tornado", "service_identity", "pylsqpack", "rich",
        "playwright", "openai", "numpy", "polars",
    )],
}))
"""

_STAND_IN = """
from warex.proxy.process.stub_modules import install_stubs
install_stubs()
from mitmproxy.proxy.layers.quic import QuicStreamEvent
from aioquic.tls import CipherSuite
import ruamel.yaml.error
class Ours(QuicStreamEvent): pass
assert not isinstance(None, (int, QuicStreamEvent, CipherSuite.AES, ruamel.yaml.error.YAMLError))
annotated: QuicStreamEvent | None = None
QuicStreamEvent()
"""

_AFTERWARDS = """
import mitmproxy.addons
from warex.proxy.process.stub_modules import install_stubs
install_stubs()
assert len(mitmproxy.addons.default_addons()) > 20
"""


def _run(program: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.wire
def test_only_what_is_used_is_loaded_and_that_is_the_real_one() -> None:
    done = _run(_LOADED)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    addons = ("core", "next_layer", "proxyserver", "tlsconfig")
    layers = ("http/__init__", "tcp", "tls", "websocket")
    wanted = [f"mitmproxy/addons/{it}.py" for it in addons]
    wanted += [f"mitmproxy/proxy/layers/{it}.py" for it in layers]
    assert all(it.endswith(end) for it, end in zip(found["files"], wanted, strict=True))
    assert set(found["addons"]) == {f"mitmproxy.addons.{it}" for it in (*addons, "termlog")}
    from warex.proxy.process.stub_modules import STUBBED

    assert found["stand_ins"] == list(STUBBED)
    assert found["others"] == []


@pytest.mark.slow
@pytest.mark.wire
def test_a_stand_in_is_nothings_kind_and_cannot_be_called() -> None:
    done = _run(_STAND_IN)
    assert done.stderr.splitlines()[-1] == (
        "RuntimeError: mitmproxy calls mitmproxy.proxy.layers.quic.QuicStreamEvent, which is not"
        " loaded: take it out of warex.proxy.process.stub_modules.STUBBED"
    )


@pytest.mark.wire
def test_where_mitmproxy_has_its_addons_they_stay() -> None:
    assert _run(_AFTERWARDS).returncode == 0


_CHECKS = """
from warex.proxy.process.stub_modules import install_stubs
install_stubs()
from mitmproxy import http
from mitmproxy.proxy.layers.http import HttpStream
assert not hasattr(HttpStream.state_wait_for_request_headers, "__wrapped__")
http.ResponseData("not bytes", None, None, None, None, None, None, None)
"""


@pytest.mark.wire
def test_mitmproxy_checks_no_types_for_each_message() -> None:
    done = _run(_CHECKS)
    assert done.returncode == 0, done.stderr
