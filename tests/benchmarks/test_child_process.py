"""WAREX's own programs are there when they are needed, and never longer."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from warex.benchmarks.child_process import require_alive, start_child
from warex.errors import ProcessDied, TrialVoid

pytestmark = pytest.mark.wire


def module(folder: Path, name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder / f"{name}.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ["PYTHONPATH"]]))
    return name


@pytest.fixture(autouse=True)
def _some_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))


def test_a_program_ends_with_its_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os, sys\nprint('{\"pid\": %d}' % os.getpid(), flush=True)\nsys.stdin.read()"

    with start_child(module(tmp_path, "waits", code, monkeypatch)) as (_, answer):
        os.kill(answer["pid"], 0)

    with pytest.raises(ProcessLookupError):
        os.kill(answer["pid"], 0)


def test_a_program_that_does_not_listen_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warex.benchmarks.child_process._END_SECONDS", 0.2)
    code = "import os, time\nprint('{\"pid\": %d}' % os.getpid(), flush=True)\ntime.sleep(600)"

    with start_child(module(tmp_path, "deaf", code, monkeypatch)) as (_, answer):
        pass

    with pytest.raises(ProcessLookupError):
        os.kill(answer["pid"], 0)


def test_a_program_that_ends_too_early_voids_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = module(tmp_path, "ends", "raise SystemExit(2)", monkeypatch)

    with (
        pytest.raises(TrialVoid, match="ends ended with code 2 before it was ready"),
        start_child(name),
    ):
        pass


def test_a_program_that_is_never_ready_voids_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = module(tmp_path, "never", "import time; time.sleep(600)", monkeypatch)

    with (
        pytest.raises(TrialVoid, match=r"never was not ready within 0\.3 s"),
        start_child(name, ready_s=0.3),
    ):
        pass


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells of others' ends")
@pytest.mark.parametrize(
    "start",
    [
        "start_child('warex_testbed', 'serve')",
        "start_child('warex.agents.scripted_model', '--tasks', *map(str, FILES))",
    ],
)
def test_a_program_ends_when_whoever_started_it_is_killed(start: str) -> None:
    code = (
        "import time, subprocess\nfrom warex_testbed.tasks import FILES\n"
        "from warex.benchmarks.child_process import start_child\n"
        f"with {start} as said:\n"
        "    import os\n"
        "    tasks = f'/proc/{os.getpid()}/task/{os.getpid()}/children'\n"
        "    print(open(tasks).read(), flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        child = os.pidfd_open(int(owner.stdout.readline()))
        owner.send_signal(signal.SIGKILL)

    ended, _, _ = select.select([child], [], [], 10)
    os.close(child)
    assert ended, "it outlived its owner"


def test_a_killed_program_voids_the_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os, sys\nprint('{\"pid\": %d}' % os.getpid(), flush=True)\nsys.stdin.read()"

    def trial() -> None:
        name = module(tmp_path, "waits", code, monkeypatch)
        with start_child(name) as (process, answer), require_alive(process, name):
            ended = os.pidfd_open(answer["pid"])
            os.kill(answer["pid"], signal.SIGTERM)
            assert select.select([ended], [], [], 10)[0]
            os.close(ended)
            raise TrialVoid("its model never answered")

    with pytest.raises(ProcessDied, match="waits was ended by SIGTERM"):
        trial()
