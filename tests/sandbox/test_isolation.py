"""A trial's commands run behind its proxy one after the other, in whatever way that is done."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fetch import FETCH
from warex.errors import InputError, MachineError
from warex.lane.config import ProxyConfig
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.isolation import (
    Isolation,
    ProxyCallbacks,
    RequestedIsolation,
    Sandbox,
    open_sandbox,
)
from warex.sandbox.namespace import launcher
from warex.scenarios import Scenario
from warex.scenarios.load import load_scenario
from warex.traffic import Capture

pytestmark = pytest.mark.wire

BOTH = pytest.mark.parametrize("isolation", ["namespace", "environment"])
URL = "https://site.warex.test/"


def configured(ca: CertificateAuthority, **more: object) -> ProxyConfig:
    return ProxyConfig.model_validate({"ca": ca.folder, **more})


def fetched(place: Sandbox, log: Path) -> int | None:
    return place.run([*FETCH, URL], log, timeout_s=30).code


@BOTH
def test_commands_run_one_after_the_other_with_their_words_in_files(
    isolation: Isolation,
    forkserver: Forkserver,
    ca: CertificateAuthority,
    site: int,
    tmp_path: Path,
) -> None:
    def configure(capture: Capture) -> ProxyConfig:
        maps = (f"{URL}=http://127.0.0.1:{site}",)
        return configured(ca, capture=capture, traffic={"maps": maps})

    with open_sandbox(isolation, forkserver, configure, ca, os.environ) as place:
        codes = [fetched(place, tmp_path / name) for name in ("one", "two")]
        assert place.broken() is None
        assert place.failure() is None

    assert codes == [0, 0]
    assert (tmp_path / "one").read_text() == (tmp_path / "two").read_text() == "hello"
    assert place.proxy.summary is not None
    assert place.proxy.summary["hosts"] == {"site.warex.test": 2}


@BOTH
def test_time_and_a_stop_end_a_command_and_the_next_one_runs(
    isolation: Isolation, forkserver: Forkserver, ca: CertificateAuthority, tmp_path: Path
) -> None:
    def configure(capture: Capture) -> ProxyConfig:
        return configured(ca, capture=capture)

    with open_sandbox(isolation, forkserver, configure, ca, os.environ) as place:
        late = place.run(["sleep", "600"], tmp_path / "log", timeout_s=0.2)
        stopped = place.run(["sleep", "600"], tmp_path / "log", timeout_s=60, stop=lambda: True)
        here = [sys.executable, "-c", "import os; print(os.getcwd()); raise SystemExit(3)"]
        after = place.run(here, tmp_path / "after", timeout_s=60, cwd=tmp_path)

    assert (late.code, stopped.code, after.code) == (None, None, 3)
    assert (tmp_path / "after").read_text().strip() == str(tmp_path)


@pytest.mark.parametrize("check", [None, lambda: None], ids=["before", "after"])
def test_a_configuration_that_cannot_work_is_reported(
    check: Callable[[], None] | None, forkserver: Forkserver, ca: CertificateAuthority
) -> None:
    def configure(capture: Capture) -> ProxyConfig:
        raise InputError("no such thing")

    def use() -> None:
        with open_sandbox("namespace", forkserver, configure, ca, os.environ, check=check) as place:
            _ = place.proxy

    with pytest.raises(InputError, match="no such thing"):
        use()


def test_without_namespaces_exec_uses_the_environment_and_says_why(
    forkserver: Forkserver, ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: object, **how: object) -> object:
        raise MachineError("this machine allows none; allow them")

    monkeypatch.setattr(launcher, "open_namespace", refused)
    asked: list[Capture] = []
    messages: list[str] = []

    def configure(capture: Capture) -> ProxyConfig:
        asked.append(capture)
        return configured(ca, capture=capture)

    with open_sandbox(
        "auto", forkserver, configure, ca, os.environ, callbacks=ProxyCallbacks(messages.append)
    ) as place:
        assert place.isolation == "environment"

    assert asked[-1] == "forward"
    (sentence,) = messages
    assert sentence.endswith("this machine allows none; allow them")

    def use(requested: RequestedIsolation, scenario: Scenario | None = None) -> None:
        def configure(capture: Capture) -> ProxyConfig:
            return ProxyConfig(ca=ca.folder, capture=capture, scenario=scenario)

        with open_sandbox(requested, forkserver, configure, ca, os.environ):
            pass

    with pytest.raises(MachineError, match="allows none"):
        use("namespace")
    # A fault that needs one is refused, and the reason is what the user can mend.
    with pytest.raises(InputError, match=r"use namespace mode .* this machine allows none"):
        use("auto", load_scenario("connection/refused"))
