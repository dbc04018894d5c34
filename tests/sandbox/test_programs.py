"""Programs of others, started in our environment, come through the proxy and trust it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.client import Proxy
from warex.sandbox.environment import proxied_environment
from warex.traces import RequestSeen, read_trace

pytestmark = pytest.mark.wire

# Where another environment would lead: nowhere, and without any trust.
LEFT_OVER = {
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
    "NO_PROXY": "*",
    "no_proxy": "site.warex.test",
    "SSL_CERT_FILE": "/dev/null",
    "SSL_CERT_DIR": "/nonexistent",
    "CURL_CA_BUNDLE": "/dev/null",
}

URLLIB = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())"
HTTPX = "import sys, httpx; print(httpx.get(sys.argv[1]).text)"
PROGRAMS = {
    "curl": ["curl", "--silent", "--show-error"],
    "urllib": [sys.executable, "-c", URLLIB],
    "httpx": [sys.executable, "-c", HTTPX],
}


@pytest.mark.parametrize(
    "program", ["urllib", "httpx", pytest.param("curl", marks=pytest.mark.slow)]
)
def test_programs_of_others_come_through_and_trust_us(
    program: str, lane: tuple[Proxy, Path], ca: CertificateAuthority, tmp_path: Path
) -> None:
    command = PROGRAMS[program]
    proxy, folder = lane
    bundle = ca.bundle(tmp_path / "bundle.pem")
    environment = proxied_environment(os.environ | LEFT_OVER, proxy.url, ca, bundle)
    url = f"https://site.warex.test/{program}"

    done = subprocess.run(
        [*command, url],
        env=dict(environment.variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.strip() == "hello", done.stderr
    assert url in [seen.url for seen in read_trace(folder / "events.jsonl").events(RequestSeen)]
