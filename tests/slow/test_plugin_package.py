"""The package of examples/plugin_package, installed into an environment of its own."""

import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.wire, pytest.mark.timeout(300)]

PACKAGE = Path(__file__).parents[2] / "examples" / "plugin_package"
SCENARIO = """
schema_version: 1
name: abroad
rules:
  - name: refused
    match: {url: "http://shop.test/*"}
    trigger: {always: true}
    fault: {kind: geo_block, country: Chile}
"""
VISIT = """
import urllib.error, urllib.request
try:
    urllib.request.urlopen("http://shop.test/")
except urllib.error.HTTPError as error:
    print(error.code, "from Chile" in error.read().decode())
"""
ASKED = """
schema_version: 1
name: refused
rules:
  - name: overloaded
    match: {llm: {family: company_gateway}}
    trigger: {always: true}
    fault: {kind: llm_error, error: overloaded}
"""
ASK = """
import json, urllib.error, urllib.request
body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
asked = urllib.request.Request("http://gateway.test/llm/ask", json.dumps(body).encode())
asked.add_header("content-type", "application/json")
try:
    urllib.request.urlopen(asked)
except urllib.error.HTTPError as error:
    print(error.code, "overloaded" in error.read().decode())
"""
# The third lane is forked after all of WAREX's faults are loaded.
THREE_LANES = f"""
import subprocess, sys, warex
for _ in range(3):
    with warex.intercept("abroad.yaml") as proxy:
        subprocess.run([sys.executable, "-c", {VISIT!r}], env=proxy.env, check=True)
        print([(each.kind, each.state) for each in proxy.ledger], flush=True)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with WAREX and the package."""
    folder = tmp_path_factory.mktemp("environment")
    # The build writes into the sources.
    source = shutil.copytree(PACKAGE, folder / "source")
    python = folder / "venv" / "bin" / "python"
    uv = (sys.executable, "-m", "uv")
    done(*uv, "venv", "-q", "--python", sys.executable, folder / "venv")
    done(*uv, "pip", "install", "-q", "--no-deps", "--python", python, source)
    [packages] = (folder / "venv" / "lib").glob("python*/site-packages")
    ours = [path for path in site.getsitepackages() if path.endswith("site-packages")]
    (packages / "warex.pth").write_text(
        "".join(f"import site; site.addsitedir({path!r})\n" for path in ours)
    )
    return python


def done(*command: str | Path, cwd: Path | None = None) -> str:
    ended = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=240, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_a_fault_of_another_package_is_used_from_the_command_line(
    python: Path, tmp_path: Path
) -> None:
    (tmp_path / "abroad.yaml").write_text(SCENARIO)
    warex = (python, "-m", "warex.cli")

    assert "geo_block " in done(*warex, "faults")
    assert "country" in done(*warex, "faults", "show", "geo_block")
    checked = done(*warex, "scenarios", "check", "abroad.yaml", cwd=tmp_path)
    assert "geo_block: is answered 451 with a page that names Chile" in " ".join(checked.split())
    assert '"geo_block"' in done(*warex, "schema", "scenario")
    client = (python, "-c", VISIT)
    exec_ = (*warex, "exec", "-q", "--isolate", "environment", "--scenario", "abroad.yaml")
    assert done(*exec_, "--", *client, cwd=tmp_path) == "451 True\n"
    assert (
        done(python, "-c", THREE_LANES, cwd=tmp_path).splitlines()
        == [
            "451 True",
            "[('geo_block', 'delivered')]",
        ]
        * 3
    )


def test_a_family_a_metric_and_a_format_of_another_package_are_used(
    python: Path, tmp_path: Path
) -> None:
    (tmp_path / "asked.yaml").write_text(ASKED)
    warex = (python, "-m", "warex.cli")
    exec_ = (*warex, "exec", "-q", "--isolate", "environment", "--scenario", "asked.yaml")

    assert done(*exec_, "-o", "trial", "--", python, "-c", ASK, cwd=tmp_path) == "503 True\n"
    assert '"company_gateway"' in (tmp_path / "trial" / "events.jsonl").read_text()
    assert "Mean faults that are delivered" in done(*warex, "metrics", "show", "faults_met")
    done(*warex, "export", "trial", "--to", "outcomes", "-o", "csv", cwd=tmp_path)
    header, row = (tmp_path / "csv" / "outcomes.csv").read_text().splitlines()
    assert header == "agent,condition,task,repeat,outcome"
    assert row.endswith(",unscored")
