"""The machine-wide rules are called good only after a captured user's programs met the proxy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warex.sandbox.chromium import find_chromium
from warex.sandbox.doctor.iptables_probe import LABEL, probe_iptables

ROOT = os.geteuid() == 0


def rules() -> str:
    return subprocess.run(["nft", "list", "ruleset"], capture_output=True, text=True).stdout


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(not ROOT, reason="only root may change rules, even those of a network apart")
def test_only_programs_of_the_captured_user_are_proxied() -> None:
    before = rules()
    findings = {each.name: each for each in probe_iptables(find_chromium())}

    assert findings.keys() == {LABEL, *(f"iptables: {n}" for n in ("python", "curl", "node"))} | {
        "iptables: chromium"
    }
    assert [each.sentence for each in findings.values() if each.state != "ok"] == []
    assert rules() == before


@pytest.mark.wire
def test_an_ordinary_user_gets_alternatives_to_root(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "if os.geteuid() == 0: os.geteuid = lambda: 1000\n"
        "from warex.sandbox.doctor.iptables_probe import probe_iptables\n"
        "print(*probe_iptables(None))\n"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout

    assert "state='missing'" in output
    assert "sudo warex doctor" in output
    assert "namespace mode needs none" in output
