from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from tests.engine.conftest import ca as ca
from tests.engine.conftest import leaf as leaf
from tests.engine.conftest import plain as plain
from tests.engine.conftest import secure_h1 as secure_h1
from tests.engine.conftest import secure_h2 as secure_h2
from tests.mitmproxy_addon.dump import mitmdump
from tests.mitmproxy_addon.shop import RULES, Shop
from tests.proxy.support.client import trusting
from tests.proxy.support.origin import served, server_context
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import HarnessBroke, read_trace


@pytest.fixture(scope="module", params=["HTTP/1.1", "HTTP/2.0"])
def shop(
    request: pytest.FixtureRequest,
    ca: CertificateAuthority,
    leaf: tuple[Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Shop]:
    over_h2 = request.param == "HTTP/2.0"
    folder = tmp_path_factory.mktemp("dump")
    scenario = folder / "scenario.yaml"
    scenario.write_text(yaml.safe_dump({"name": "families", "rules": RULES}))
    trusts = ["--set", f"ssl_verify_upstream_trusted_ca={ca.certificate}"]
    protocols = ["h2", "http/1.1"] if over_h2 else ["http/1.1"]
    with (
        served(server_context(*leaf, protocols)) as site,
        mitmdump(folder, *trusts, conf=ca.folder, scenario=str(scenario), out="out") as dump,
        httpx.Client(
            http2=over_h2,
            proxy=f"http://127.0.0.1:{dump.port}",
            verify=trusting(ca.certificate),
        ) as client,
    ):
        yield Shop(site, dump, client, folder / "out", request.param)
        assert "Traceback" not in dump.stop()
        assert not list(read_trace(folder / "out" / "events.jsonl").events(HarnessBroke))
