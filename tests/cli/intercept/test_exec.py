"""`warex exec`: the command is what it would be without us, but for what the scenario says."""

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import WAREX, finished
from tests.cli.pseudo_terminal import screen
from tests.fetch import FETCH
from tests.proxy.support.lanes import wait_until
from tests.proxy.support.model import Model
from tests.proxy.support.origin import served
from tests.traces.test_manifest import MANIFEST
from warex.traces import (
    DefenceApplied,
    Ending,
    RequestSeen,
    Unscored,
    Void,
    read_outcome,
    read_trace,
    write_manifest,
)

pytestmark = pytest.mark.wire

BOTH = pytest.mark.parametrize("mode", ["namespace", "environment"])
INSIDE = pytest.mark.parametrize(
    "mode", ["namespace", pytest.param("environment", marks=pytest.mark.slow)]
)
"""One mode in the quick tier, where the other has nothing of its own that could break."""
OUTSIDE = pytest.mark.parametrize(
    "mode", ["environment", pytest.param("namespace", marks=pytest.mark.slow)]
)
URL = "https://site.warex.test/"


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither this machine's proxy nor its daemons are asked, and no CA of the user's is made."""
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path_factory.getbasetemp() / "exec-ca"))
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def site(port: int) -> tuple[str, str]:
    return "--map", f"https://site.warex.test=http://127.0.0.1:{port}"


def ran(mode: str, *arguments: object, **how: Any) -> "subprocess.CompletedProcess[str]":
    return finished("exec", "--isolate", mode, *arguments, **how)


@contextmanager
def started(*arguments: object, **how: Any) -> "Iterator[subprocess.Popen[str]]":
    """Start it; where the test fails in the meantime, do not wait for a command that sleeps."""
    with subprocess.Popen(
        [*WAREX, "exec", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    ) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def python(code: str) -> tuple[str, ...]:
    return ("--", sys.executable, "-c", code)


def marked(process: "subprocess.Popen[str]") -> str:
    """The first line that a command says."""
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    assert line, process.communicate()
    return line


# ---- what the scenario says, and the record of it


@INSIDE
def test_the_command_meets_the_scenario_and_the_trace_holds_it(
    mode: str, port: int, tmp_path: Path
) -> None:
    ask = f"{shlex.join(FETCH)} --status -H Sec-Fetch-Dest:document {URL}"
    done = ran(
        mode, "--scenario", "paper/server-error", "--out", tmp_path / "t", *site(port), "--", "sh",
        "-c", f"{ask}; {ask}",
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (0, "500200")
    assert "2 exchanges, 0 LLM calls, 1 fault delivered, 0 missed" in done.stderr
    asked = read_trace(tmp_path / "t" / "events.jsonl").events(RequestSeen)
    assert [request.url for request in asked] == [URL, URL]
    assert "no rule hit" not in done.stderr


@pytest.mark.slow
def test_a_programs_first_request_arms_a_scenario_about_such_requests(
    port: int, tmp_path: Path
) -> None:
    scenario = tmp_path / "program.yaml"
    scenario.write_text(
        "name: program\narm: first_page\n"
        "rules: [{name: a, match: {resource: [document, other]}, trigger: {first: 1},"
        " fault: {kind: http_error}}]\n"
    )
    ask = f"{shlex.join(FETCH)} --status {URL}"
    done = ran(
        "environment", "--scenario", scenario, *site(port), "--", "sh", "-c", f"{ask}; {ask}"
    )

    assert done.stdout == "500200"
    assert "never armed" not in done.stderr


@pytest.mark.slow
def test_a_scenario_that_hits_nothing_is_reported(port: int) -> None:
    done = ran(
        "environment",
        "--scenario",
        "paper/server-error",
        *site(port),
        "--",
        *FETCH,
        "--status",
        URL,
    )

    assert (done.returncode, done.stdout) == (0, "200")
    assert "no rule hit any of 1 exchange; a program's request is a page only if" in done.stderr


@pytest.mark.slow
def test_a_bad_scenario_is_refused_before_anything_else_is_said(port: int, tmp_path: Path) -> None:
    scenario = tmp_path / "bad.yaml"
    scenario.write_text("rules: [{name: a, fault: {kind: nope}}]")

    done = ran("namespace", "--scenario", str(scenario), "--", "echo", f"http://localhost:{port}/")

    assert (done.returncode, done.stdout) == (2, "")
    assert "nope" in done.stderr
    assert "let through" not in done.stderr


@pytest.mark.slow
def test_the_first_pages_connection_is_hit_where_no_site_is_named(
    port: int, tmp_path: Path
) -> None:
    done = ran(
        "namespace", "--scenario", "connection/refused", "--arm", "first_page",
        "--out", tmp_path / "t", *site(port), "--", *FETCH, "--status", URL,
    )  # fmt: skip

    assert done.returncode == 7
    assert "1 fault delivered" in done.stderr
    assert "never armed" not in done.stderr


@pytest.mark.slow
def test_calls_that_cannot_be_read_and_a_scenario_never_armed_are_reported(
    port: int, tmp_path: Path
) -> None:
    scenario = tmp_path / "later.yaml"
    scenario.write_text(
        "name: later\narm: first_llm_call\n"
        "rules: [{name: a, trigger: {always: true}, fault: {kind: http_error}}]\n"
    )
    url = "https://api.anthropic.com/v1/messages"
    done = ran(
        "environment", "--scenario", scenario,
        "--map", f"https://api.anthropic.com=http://127.0.0.1:{port}",
        *python(f"""
import urllib.error, urllib.request
try:
    urllib.request.urlopen({url!r}, b"{{}}")
except urllib.error.HTTPError as error:
    error.close()
"""),
    )  # fmt: skip

    assert f"1 call to a model could not be read (first: {url}: " in done.stderr
    assert "the scenario was never armed" in done.stderr


@pytest.mark.slow
@BOTH
def test_without_a_scenario_the_answer_is_the_sites(mode: str, port: int) -> None:
    done = ran(mode, "--quiet", *site(port), "--", *FETCH, URL)

    assert (done.returncode, done.stdout, done.stderr) == (0, "hello", "")


@pytest.mark.slow
def test_without_isolation_only_the_environment_changes(port: int) -> None:
    code = f"""
import os, ssl, urllib.request
new = {{name for name in os.environ if name not in {list(os.environ)!r}}}
print(sorted(new))
proxy = urllib.request.ProxyHandler({{"https": os.environ["WAREX_PROXY"]}})
tls = urllib.request.HTTPSHandler(
    context=ssl.create_default_context(cafile=os.environ["WAREX_CA_BUNDLE"])
)
print(urllib.request.build_opener(proxy, tls).open({URL!r}).read().decode())
"""
    done = ran("none", *site(port), *python(code))

    names = "['WAREX_CA_BUNDLE', 'WAREX_CA_CERT', 'WAREX_COMMAND', 'WAREX_PROXY']"
    assert done.stdout.splitlines() == [names, "hello"], done


@pytest.mark.slow
def test_environment_mode_says_which_hosts_came_through(port: int) -> None:
    done = ran("environment", *site(port), "--", *FETCH, URL)

    assert "hosts that came through: site.warex.test (1)" in done.stderr


@pytest.mark.slow
def test_a_port_of_this_machine_that_is_named_is_let_through(port: int) -> None:
    done = ran("namespace", "--", *FETCH, f"http://localhost:{port}/")
    by_name = ran(
        "namespace",
        "--quiet",
        *("--", "sh", "-c", f'{shlex.join(FETCH)} "$OPENAI_BASE_URL/models"'),
        environment={"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"},
    )

    assert done.stdout == by_name.stdout == "hello"
    assert f"port {port} (in the command line)" in done.stderr


@pytest.mark.slow
def test_a_model_of_this_machine_that_is_asked_past_the_proxy_is_reported(port: int) -> None:
    """Loopback is direct for programs, so that what is asked there is neither seen nor hit."""
    code = f'{shlex.join(FETCH)} "$GOOGLE_GEMINI_BASE_URL/models"'
    existing = {"GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}"}
    done = ran("environment", "--", "sh", "-c", code, environment=existing)
    by_name = ran(
        "environment",
        *("--map", f"http://local.test:{port}=http://127.0.0.1:{port}", "--", "sh", "-c", code),
        environment={"GOOGLE_GEMINI_BASE_URL": f"http://local.test:{port}"},
    )

    assert done.stdout == by_name.stdout == "hello"
    assert f"GOOGLE_GEMINI_BASE_URL names port {port}" in done.stderr
    assert f"give --map http://local.test:{port}=http://127.0.0.1:{port}" in done.stderr
    assert "past the proxy" not in by_name.stderr
    assert f"local.test:{port} (1)" in by_name.stderr or "local.test (1)" in by_name.stderr


@pytest.mark.slow
def test_the_proxy_of_the_callers_environment_is_gone_through(port: int, tmp_path: Path) -> None:
    corporate = [*WAREX, "proxy", "--port", "0", "--out", str(tmp_path / "corporate")]
    with subprocess.Popen(
        [*corporate, "--map", f"http://site.warex.test=http://127.0.0.1:{port}"],
        stdout=subprocess.PIPE,
        text=True,
    ) as outer:
        assert outer.stdout is not None
        address = outer.stdout.readline().split()[1]
        done = ran(
            "environment",
            *("--", *FETCH, "http://site.warex.test/"),
            environment={"http_proxy": address, "NO_PROXY": "localhost,git.corp.test"},
        )
        outer.send_signal(signal.SIGINT)

    assert done.stdout == "hello"
    assert f"WAREX goes on through {address}, as http_proxy says" in done.stderr
    assert "git.corp.test (NO_PROXY)" in done.stderr
    seen = list(read_trace(tmp_path / "corporate" / "events.jsonl").events(RequestSeen))
    assert [request.url for request in seen] == ["http://site.warex.test/"]


# ---- exit codes

EXIT, KILL = "raise SystemExit(7)", "import os; os.kill(os.getpid(), 15)"


@pytest.mark.parametrize(
    ("mode", "code", "expected"),
    [
        ("namespace", EXIT, 7),
        ("environment", KILL, 143),
        pytest.param("namespace", KILL, 143, marks=pytest.mark.slow),
        pytest.param("environment", EXIT, 7, marks=pytest.mark.slow),
    ],
)
def test_the_exit_code_is_the_commands(mode: str, code: str, expected: int) -> None:
    done = ran(mode, "--quiet", *python(code))

    assert (done.returncode, done.stderr) == (expected, "")


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--scenario", "nope", "--", "echo", "ran"], 2, "there is no scenario 'nope'"),
        pytest.param(
            ["--map", "x", "--", "echo", "ran"],
            2,
            "'--map': 'x' is not a mapping",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ["--upstream", "x", "--", "echo", "ran"],
            2,
            "'--upstream': 'x' is not a proxy",
            marks=pytest.mark.slow,
        ),
        (["--", "no-such-program"], 3, "'no-such-program' cannot be started"),
        pytest.param(
            ["--out", "OUT", "--", "echo", "ran"],
            2,
            "already holds a trace",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ["--host-port", "0", "--", "echo", "ran"], 2, "--host-port", marks=pytest.mark.slow
        ),
        ([], 2, "Missing argument 'CMD...'"),
    ],
)
def test_what_cannot_work_is_reported_before_the_command_starts(
    options: list[str], code: int, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "events.jsonl").write_text("{}\n")
    done = finished("exec", *(str(tmp_path) if word == "OUT" else word for word in options))

    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@INSIDE
def test_a_proxy_that_breaks_ends_the_command_and_voids_the_trial(
    mode: str, tmp_path: Path, port: int
) -> None:
    # Whoever kills the proxy's process: the command must not go on in the belief that it counts.
    with started(
        *("--isolate", mode, "--out", tmp_path, *site(port), "--", "sh", "-c"),
        f"{shlex.join(FETCH)} {URL}; echo; exec sleep 600",
    ) as done:
        assert marked(done) == "hello"
        for process in _proxies(done.pid):
            os.kill(process, signal.SIGKILL)
        _, err = done.communicate(timeout=30)

    assert done.returncode == 1
    assert "the trial is void: the proxy died before the trial's end" in err
    assert read_outcome(tmp_path) == Void(reason="the proxy died before the trial's end")


@pytest.mark.parametrize(
    ("code", "ending"), [(0, "answered"), pytest.param(3, "agent_crashed", marks=pytest.mark.slow)]
)
def test_a_command_that_ended_leaves_an_outcome_without_a_score(
    code: int, ending: Ending, tmp_path: Path
) -> None:
    began = time.monotonic()
    ran("environment", "--out", tmp_path, "--", "sh", "-c", f"exit {code}")
    elapsed = time.monotonic() - began

    outcome = read_outcome(tmp_path)
    assert isinstance(outcome, Unscored)
    assert outcome.ending == ending
    assert outcome.latency_s is not None
    assert 0 < outcome.latency_s < elapsed


@pytest.mark.slow
def test_a_command_that_was_stopped_leaves_no_outcome(tmp_path: Path) -> None:
    done = ran("environment", "--out", tmp_path, "--", "sh", "-c", "kill -TERM $$")

    assert done.returncode == 128 + signal.SIGTERM
    assert (tmp_path / "events.jsonl").exists()
    assert read_outcome(tmp_path) is None


def _proxies(warex: int) -> list[int]:
    """The copies of a `warex` that have a session of their own: its proxy."""
    own = _command_line(warex)
    return [pid for pid in _children(warex) if _command_line(pid) == own and os.getsid(pid) == pid]


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


# ---- streams and signals


@INSIDE
def test_the_streams_are_the_callers_own(mode: str) -> None:
    code = "import sys; sys.stdout.write(sys.stdin.read().upper()); sys.stderr.write('err')"
    done = subprocess.run(
        [*WAREX, "exec", "--quiet", "--isolate", mode, *python(code)],
        input="typed",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("TYPED", "err")


@pytest.mark.slow
@BOTH
def test_what_the_caller_ignores_stays_ignored_as_under_nohup(mode: str) -> None:
    shown = "grep SigIgn /proc/self/status"
    bare = f"trap '' HUP; {shown}"
    behind = f"trap '' HUP; exec {shlex.join(WAREX)} exec --quiet --isolate {mode} -- {shown}"

    output = [
        subprocess.run(["sh", "-c", each], capture_output=True, text=True, timeout=60).stdout
        for each in (bare, behind)
    ]

    # Signals 32 and 33 are glibc's own, which its posix_spawn ignores.
    named = (1 << 31) - 1
    ignored = [int(each.removeprefix("SigIgn:"), 16) & named for each in output]
    assert ignored == [1 << signal.SIGHUP - 1] * 2


@pytest.mark.slow
@BOTH
def test_a_signal_that_the_command_sends_itself_ends_it(mode: str) -> None:
    done = finished("exec", "--isolate", mode, "--", "sh", "-c", "kill -TERM $$; echo on")

    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, "")


@pytest.mark.slow
@BOTH
def test_a_closed_stream_is_no_other_file_to_the_command(mode: str) -> None:
    shown = ("sh", "-c", "readlink /proc/$$/fd/0 /proc/$$/fd/2; cat")
    words = shlex.join((*WAREX, "exec", "--isolate", mode, "--", *shown))
    done = subprocess.run(
        ["sh", "-c", f"{words} <&- 2>&-"], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stdout) == (0, "/dev/null\n/dev/null\n")


@INSIDE
def test_a_signal_sent_to_warex_reaches_the_command(mode: str) -> None:
    code = """
import signal, sys
numbers = [signal.SIGUSR1, signal.SIGHUP, signal.SIGINT, signal.SIGTERM]
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
print("ready", flush=True)
for number in numbers:
    print(int(signal.sigwait(numbers)), flush=True)
sys.exit(9)
"""
    with started("--quiet", "--isolate", mode, *python(code)) as running:
        assert marked(running) == "ready"
        for number in (signal.SIGUSR1, signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            running.send_signal(number)
            assert marked(running) == str(int(number))
        _, err = running.communicate(timeout=30)

    assert (running.returncode, err) == (9, "")


@pytest.mark.slow
def test_a_signal_as_the_command_starts_ends_it_all() -> None:
    with started("--isolate", "environment", "--", "sleep", "600") as running:
        wait_until(lambda: _proxies(running.pid) != [])
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)

    # On a quick machine the command has begun by then, and ends by the signal as it would alone.
    assert running.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in err
    assert running.returncode != 130 or err.strip() == "interrupted"


AGENT = """
import os, signal, sys, time
hits = []
def show(text):  # A stopped print cannot be entered again by a handler.
    os.write(1, text + b"\\n")
def hit(number, frame):
    hits.append(number)
    show(b"interrupted")
signal.signal(signal.SIGINT, hit)
signal.signal(signal.SIGCONT, lambda number, frame: show(b"going on"))
show(b"began")
while not hits:
    time.sleep(0.05)
time.sleep(0.5)  # Time enough for a second one.
sys.exit(9)
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["namespace", "environment"])
def test_on_a_terminal_it_is_as_if_warex_were_not_there(mode: str, tmp_path: Path) -> None:
    warex = f"{' '.join(WAREX)} exec --quiet --isolate {mode} --"
    environment = {**os.environ, "PS1": "OUTER> ", "TERM": "dumb"}
    (tmp_path / "agent.py").write_text(AGENT)
    with screen(["bash", "--norc", "--noprofile", "-i"], environment) as shown:
        shown.wait_for("OUTER> ")
        shown.type("stty -echo\n")
        shown.wait_for("OUTER> ")

        shown.type(f"{warex} {shlex.quote(sys.executable)} {tmp_path}/agent.py; echo code $?\n")
        shown.wait_for("began")
        shown.type("\x1a")
        shown.wait_for("Stopped")
        shown.wait_for("OUTER> ")
        shown.type("fg; echo code $?\n")
        shown.wait_for("going on")
        shown.type("\x03")
        shown.wait_for("code 9")
        # Once: the terminal's signal reaches the command, and is not passed on a second time.
        assert shown.all.count(b"interrupted") == 1
        shown.wait_for("OUTER> ")

        shown.type(f"{warex} env 'PS1=INNER%% ' bash --norc --noprofile -i\n")
        shown.wait_for("INNER%% ")
        assert b"no job control" not in shown.all
        shown.resize(33, 77)
        shown.type("stty size\n")
        shown.wait_for("33 77")
        shown.type("suspend -f\n")
        shown.wait_for("Stopped")
        shown.wait_for("OUTER> ")
        shown.type("fg\n")
        shown.type("exit 5\n")
        shown.wait_for("OUTER> ")
        shown.type("echo code $?\n")
        shown.wait_for("code 5")
        shown.wait_for("OUTER> ")

        # A shell inside takes the terminal; whoever comes after it must be able to read.
        inner = "bash --norc --noprofile -i -c true"
        shown.type(f'sh -c "{warex} {inner}; echo over; read x; echo got \\$x"\n')
        shown.wait_for("over")
        shown.type("line\n")
        shown.wait_for("got line")
        shown.type("exit\n")


# ---- nothing is left behind


@pytest.mark.slow
@OUTSIDE
def test_what_the_command_leaves_running_ends_with_it(mode: str) -> None:
    done = ran(mode, "--quiet", "--", "sh", "-c", "setsid sleep 600 & cat /proc/self/environ")

    mark = next(word for word in done.stdout.split("\0") if word.startswith("WAREX_COMMAND="))
    assert _carriers(mark) == []


@OUTSIDE
def test_a_kill_leaves_nothing_behind(mode: str, tmp_path: Path) -> None:
    code = """
import json, os, subprocess, sys, time
subprocess.Popen(["sleep", "600"], start_new_session=True)
print(json.dumps(os.environ["WAREX_COMMAND"]), flush=True)
time.sleep(600)
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with started("--isolate", mode, *python(code), env=environment) as running:
        mark = f"WAREX_COMMAND={json.loads(marked(running))}"
        # A program that has just begun has no environment yet that anybody could read.
        wait_until(lambda: len(_carriers(mark)) == 2)
        ours = _children(running.pid)
        running.kill()

    wait_until(lambda: not _carriers(mark))
    wait_until(lambda: not any(map(_alive, ours)))
    wait_until(lambda: not list(tmp_path.glob("warex-*")))


def _carriers(mark: str) -> list[int]:
    results = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and mark.encode() in (process / "environ").read_bytes():
                results.append(int(process.name))
        except OSError:
            continue
    return results


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# ---- what the user is warned of


@pytest.mark.slow
def test_a_daemon_and_a_remote_browser_are_warned_of(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(tmp_path / "docker.sock"))
        done = ran(
            "namespace",
            *("--", "true"),
            environment={
                "XDG_RUNTIME_DIR": str(tmp_path),
                "SELENIUM_REMOTE_URL": "http://grid.test:4444",
            },
        )

    assert "containers that it starts there are not behind WAREX" in done.stderr
    assert "SELENIUM_REMOTE_URL names a browser at http://grid.test" in done.stderr


_DISTRUSTS = """
import socket, ssl, urllib.request
try:
    urllib.request.urlopen("https://site.warex.test/", context=ssl.create_default_context())
except OSError:
    raise SystemExit(9)
"""


@OUTSIDE
def test_a_distrusting_client_voids_the_trial_even_with_quiet(
    mode: str, port: int, tmp_path: Path
) -> None:
    # As a program that brings certificates of its own, or a browser started by its full path.
    bare = ("env", "SSL_CERT_DIR=/nonexistent", "SSL_CERT_FILE=/dev/null")
    done = ran(
        mode, "--quiet", "--out", tmp_path / "out", *site(port),
        "--", *bare, sys.executable, "-c", _DISTRUSTS,
    )  # fmt: skip

    assert done.returncode == 1, done.stderr
    for part in ("does not trust WAREX's certificate for site.warex.test", "unknown ca", "spki"):
        assert part in done.stderr
    assert isinstance(read_outcome(tmp_path / "out"), Void)


@pytest.mark.slow
def test_a_browser_that_goes_past_the_proxy_is_warned_of(tmp_path: Path) -> None:
    # Started by its full path, and heeding nothing: to the kernel it is called as a browser is.
    browser = shutil.copy(shutil.which("sleep") or "", tmp_path / "chromium")
    done = ran("environment", "--", browser, "1")

    assert "hosts that came through: none" in done.stderr
    assert "a browser ran (chromium), but none of its pages came through" in done.stderr
    # Nobody here knows whether it opened one.
    assert "it opened none, or it goes past the proxy" in done.stderr


ASKS = """
import json, urllib.request
asked = {"model": "m", "messages": [{"role": "user", "content": "what now?"}]}
head = {"content-type": "application/json"}
url = "http://llm.warex.test/v1/chat/completions"
request = urllib.request.Request(url, json.dumps(asked).encode(), head)
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
"""


@pytest.mark.slow
def test_a_reset_that_fails_leaves_its_reason(tmp_path: Path) -> None:
    done = ran("environment", "--out", tmp_path / "out", "--reset", "false", "--", "true")

    assert done.returncode == 1
    outcome = read_outcome(tmp_path / "out")
    assert isinstance(outcome, Void)
    assert "the site was not reset" in outcome.reason


@pytest.mark.slow
def test_a_run_is_not_a_place_for_the_trace(tmp_path: Path) -> None:
    write_manifest(tmp_path / "manifest.json", MANIFEST)
    for command in (("exec", "--out", tmp_path, "--", "true"), ("proxy", "--out", tmp_path)):
        done = finished(*command)
        assert done.returncode == 2
        assert "holds a run of a campaign" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.slow
def test_a_defence_reaches_the_commands_model(tmp_path: Path) -> None:
    (tmp_path / "hint.txt").write_text("Look twice.")
    with served() as origin:
        model = Model(origin)
        mapped = f"http://llm.warex.test=http://127.0.0.1:{origin.port}"
        how = ("--defence", "hint.txt", "--out", "out", "--map", mapped)
        done = ran("environment", *how, sys.executable, "-c", ASKS, folder=tmp_path)

    assert done.stdout == "answer 1\n", done.stderr
    assert model.asked[0]["messages"][0] == {"role": "system", "content": "Look twice."}
    trace = read_trace(tmp_path / "out" / "events.jsonl")
    assert [applied.defence for applied in trace.events(DefenceApplied)] == ["hint"]


@pytest.mark.slow
def test_a_defence_that_does_not_exist_stops_the_command_from_starting(tmp_path: Path) -> None:
    done = ran("environment", "--defence", "refesh", "touch", str(tmp_path / "ran"))

    assert done.returncode == 2
    assert "there is no defence 'refesh'; did you mean 'refresh'?" in done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_rule_about_no_named_site_is_reported_before_the_command(
    tmp_path: Path,
) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "schema_version: 1\nname: s\nrules:\n  - name: down\n    match: {url: 'https://shop.example/*'}\n"
        "    trigger: {always: true}\n    fault: {kind: http_error}\n"
    )

    done = ran(
        "environment", "--scenario", scenario, "--site", "https://site.warex.test", "--", "true"
    )

    assert "Rule 'down' hits nothing on the task sites (https://site.warex.test" in done.stderr
