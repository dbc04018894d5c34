"""A hostile new user: each mistake is a sentence with what is allowed, and the right exit code."""

import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import Warex
from tests.cli.process import finished, proxy
from tests.ports import reserved_port
from tests.proxy.support.client import read_until_closed, tunnelled
from tests.proxy.support.origin import Answer, served, server_context
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.traces import TrialEnded, read_trace


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder and a CA of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path / "ca"))
    return tmp_path


def rules(*texts: str) -> str:
    return "name: s\nrules:\n" + "".join(f"  - {{{text}}}\n" for text in texts)


FIRST = "trigger: {first: 1}"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)

SCENARIOS = {
    "unknown fault": (rules(f"name: a, {FIRST}, fault: {{kind: nope}}"), "there are: "),
    "unknown key": (
        rules(f"name: a, {FIRST}, fault: {{kind: http_error, stauts: 500}}"),
        "did you mean 'status'?",
    ),
    "status 200 as an error": (
        rules(f"name: a, {FIRST}, fault: {{kind: http_error, status: 200}}"),
        "200 is not allowed; give a whole number from 400 to 599",
    ),
    "bad regex": (
        rules(f"name: a, match: {{url_regex: '('}}, {FIRST}, fault: {{kind: http_error}}"),
        "`(` is not a regular expression",
    ),
    "negative delay": (
        rules(f"name: a, {FIRST}, fault: {{kind: network_error, delay: -1}}"),
        "-1 is not allowed; give a number from 0",
    ),
    "NaN": (
        rules(f"name: a, {FIRST}, fault: {{kind: network_error, delay: .nan}}"),
        "NaN is not allowed; give a finite number",
    ),
    "two rules of one name": (
        rules(*[f"name: a, {FIRST}, fault: {{kind: http_error}}"] * 2),
        "two rules are called 'a'",
    ),
    "two triggers": (
        rules("name: a, trigger: {first: 1, nth: 2}, fault: {kind: http_error}"),
        "found first and nth; give exactly one of",
    ),
    "an empty file": ("", "is empty"),
    "a YAML bomb": (BOMB, "it has more than 50,000 values"),
    "nested brackets": ("[" * 20_000, "is nested more than"),
    "not UTF-8": ("name: \udcff", "UTF-8"),
}


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("command", [("scenarios", "check"), ("proxy", "--port", 0, "--scenario")])
def test_a_wrong_scenario_is_refused_with_what_is_allowed(
    here: Path, warex: Warex, name: str, command: tuple[object, ...]
) -> None:
    text, allowed = SCENARIOS[name]
    (here / "s.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))
    result = warex(*command, "s.yaml")

    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("warex: s.yaml")
    assert allowed in result.err


CAMPAIGNS = {
    "an empty file": ("", "is empty"),
    "no agent": ('name = "c"\n[[conditions]]\nname = "clean"\n', "agents"),
    "an unknown key": ('name = "c"\ntaks = 1\n', "did you mean 'tasks'"),
    "an unknown benchmark": (
        'name = "c"\nbenchmark = "nope"\n[[agents]]\nname = "a"\nmodel = "m"\n'
        '[[conditions]]\nname = "clean"\n',
        "there is no benchmark 'nope'; there are: testbed",
    ),
    "an unknown task": (
        'name = "c"\ntasks = {names = ["nope"]}\n[[agents]]\nname = "a"\nmodel = "m"\n'
        '[[conditions]]\nname = "clean"\n',
        "there is no task 'nope'; there are: ",
    ),
    "an unknown preset": (
        'name = "c"\n[[agents]]\nname = "a"\nmodel = "m"\n[[conditions]]\nname = "x"\n'
        'scenario = "paper/nope"\n',
        "there is no scenario 'paper/nope'",
    ),
    "nested brackets": ("a = " + "[" * 100_000, "is nested more than"),
}


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_wrong_campaign_is_refused_and_nothing_runs(here: Path, warex: Warex, name: str) -> None:
    text, allowed = CAMPAIGNS[name]
    (here / "c.toml").write_text(text)
    result = warex("run", "c.toml")

    assert result.code == 2
    assert result.err.startswith("warex: ")
    assert allowed in result.err
    assert not (here / "runs").exists()


LINES = {
    "an unknown command": (["nope"], "There are: ablate, addon, benchmarks, ca, "),
    "nearly a command": (["fault"], "did you mean 'faults'?"),
    "nearly a command of a group": (["scenarios", "shw"], "did you mean 'show'?"),
    "an unknown option": (["proxy", "--nope"], "Try 'warex proxy --help'"),
    "a port too high": (["proxy", "--port", "99999"], "99999 is not in the range 0<=x<=65535"),
    "a port in words": (["proxy", "--port", "http"], "'http' is not a valid integer"),
    "a map of nothing": (["proxy", "--map", "nonsense"], "write for instance https://"),
    "an upstream of no kind": (["proxy", "--upstream", "nonsense"], "write http://host:port"),
    "a site without a scheme": (["proxy", "--site", "shop"], "for instance https://shop.example"),
    "a site with a path": (["proxy", "--site", "https://a.b/c"], "is not an origin"),
    "an address of another machine": (["proxy", "--host", "192.0.2.1"], "give 127.0.0.1"),
    "an address of no machine": (["proxy", "--host", "no such host"], "give 127.0.0.1"),
    "arming at no time": (["proxy", "--arm", "never"], "first_llm_call"),
    "a replay of what is not a trial": (["proxy", "--replay", "."], "events.jsonl does not exist"),
    "a replay of nothing": (["proxy", "--replay", "none"], "none does not exist"),
    "a replay with a scenario": (
        ["proxy", "--replay", ".", "--scenario", "paper/server-error"],
        "leave --scenario out",
    ),
    "a run's replay of nothing": (["run", "demo", "--replay", "none"], "none does not exist"),
    "a campaign that is not there": (["run", "nope"], "give a built-in one (demo"),
    "a campaign file that is not there": (["run", "nope.toml"], "nope.toml does not exist"),
    "no campaign": (["run"], "Missing argument 'CAMPAIGN'"),
    "no trial at all": (["run", "demo", "--limit", "0"], "0 is not in the range x>=1"),
    "no lane": (["demo", "--jobs", "0"], "0 is not in the range 1<=x<=64"),
    "a run's map of nothing": (["run", "demo", "--map", "x"], "'--map': 'x' is not a mapping"),
    "a run's upstream of no kind": (["run", "demo", "--upstream", "x"], "write http://host:port"),
    "a report of nothing": (["report", "none"], "none is not a folder"),
    "a report of an empty folder": (["report", "."], "is not a run"),
    "a report of a file": (["report", "file"], "file is not a folder"),
    "an inspection of nothing": (["inspect", "none"], "none is not a folder"),
    "an inspection of an empty folder": (["inspect", "."], "holds no trial"),
    "an inspection of a file": (["inspect", "file"], "file is not a folder"),
    "a fault there is not": (["faults", "show", "nope"], "there are: bandwidth"),
    "a scenario there is not": (
        ["scenarios", "show", "nope"],
        "give a preset (`warex scenarios` lists them)",
    ),
    "a benchmark there is not": (["benchmarks", "show", "nope"], "there are: testbed"),
    "a schema there is not": (["schema", "nope"], "'scenario', 'campaign'"),
    "a recording there is not": (
        ["scenarios", "check", "paper/server-error", "--against", "none"],
        "none does not exist; give a HAR file",
    ),
    "a recording that is none": (
        ["scenarios", "check", "paper/server-error", "--against", "file"],
        "file is not a HAR file",
    ),
    "two ways to print the CA": (["ca", "--pem", "--spki"], "exclude each other"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_wrong_command_line_is_refused_with_what_is_allowed(
    here: Path, warex: Warex, name: str
) -> None:
    arguments, allowed = LINES[name]
    (here / "file").write_text("rubbish")
    result = warex(*arguments)

    assert result.code == 2
    assert allowed in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"schema_ver', "manifest.json: this manifest is cut short"),
        ("[]", "manifest.json: this is not a manifest"),
        ("[" * 100_000, "manifest.json: this manifest is cut short or damaged"),
    ],
)
def test_a_run_that_is_half_written_is_named(
    here: Path, warex: Warex, text: str, sentence: str
) -> None:
    (here / "run").mkdir()
    (here / "run" / "manifest.json").write_text(text)
    result = warex("report", "run")

    assert result.code == 2
    assert sentence in result.err


def test_a_trial_that_was_killed_is_shown_as_far_as_it_came(here: Path, warex: Warex) -> None:
    attempt = here / "run/trials/testbed/a/clean/t/1/attempt-1"
    attempt.mkdir(parents=True)
    began = {"schema_version": 1, "seq": 1, "t": 0.0, "at": "2026-01-01T00:00:00.000+00:00"}
    (attempt / "events.jsonl").write_text(
        json.dumps({**began, "event": "trial_began"}) + '\n{"schema_version":1,"se'
    )

    inspected, reported = warex("inspect", attempt.parent), warex("report", "run")

    assert inspected.code == reported.code == 0
    assert "cut short" in inspected.out
    assert "1 trial not finished" in reported.out


@pytest.mark.parametrize("place", ["file/ca", "/proc/warex"])
@pytest.mark.parametrize("command", [("ca",), ("proxy", "--port", 0), ("demo", "--out", "out")])
def test_a_ca_that_cannot_be_written_is_the_machines_matter(
    here: Path,
    warex: Warex,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    command: tuple[object, ...],
) -> None:
    (here / "file").touch()
    monkeypatch.setenv("WAREX_CA_DIR", place)
    result = warex(*command)

    assert result.code == 3
    assert f"the certificate authority in {place} cannot be made or read" in result.err
    assert "set WAREX_CA_DIR" in result.err
    assert not (here / "out").exists()


@pytest.mark.parametrize(
    ("variables", "remedy"),
    [
        ({"WAREX_CHROMIUM": "nonsense"}, "correct it, or unset it"),
        ({"WAREX_CHROMIUM": "nonsense", "PATH": ""}, "correct it, or unset it"),
        ({"PATH": "none", "HOME": "none"}, "run `playwright install chromium`"),
    ],
)
def test_without_a_chromium_the_demo_says_how_to_get_one(
    here: Path,
    warex: Warex,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    remedy: str,
) -> None:
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    monkeypatch.delenv("WAREX_CHROMIUM", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    result = warex("demo", "--out", "out")

    assert result.code == 3
    assert remedy in result.err
    assert not (here / "out").exists()


def test_a_run_is_never_written_over_what_is_there(here: Path, warex: Warex) -> None:
    (here / "file").write_text("mine")
    (here / "full").mkdir()
    (here / "full" / "mine").touch()

    for place in ("file", "full"):
        result = warex("demo", "--out", place)
        assert result.code in (2, 3)
        assert "another --out" in result.err
    assert (here / "file").read_text() == "mine"


# --- with a real proxy --------------------------------------------------------------------------


@pytest.mark.wire
@pytest.mark.parametrize(
    "option", ["--port", pytest.param("--control-port", marks=pytest.mark.slow)]
)
def test_a_port_in_use_is_named_and_no_trace_is_begun(
    here: Path, warex: Warex, option: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = warex("proxy", "--port", 0, option, port, "--out", "out")

    assert result.code == 2
    assert f"port {port} on 127.0.0.1 is not available" in result.err
    assert "0 for any that is free" in result.err
    assert not (here / "out").exists()


@pytest.mark.slow
@pytest.mark.wire
@pytest.mark.parametrize("place", ["file/out", "/proc/warex"])
def test_a_trace_that_cannot_be_begun_is_the_machines_matter(
    here: Path, warex: Warex, place: str
) -> None:
    (here / "file").touch()
    result = warex("proxy", "--port", 0, "--out", place)

    assert result.code == 3
    assert f"{place}/events.jsonl cannot be written" in result.err


@pytest.mark.wire
def test_a_trace_is_never_written_over(here: Path, warex: Warex) -> None:
    (here / "out").mkdir()
    (here / "out" / "events.jsonl").write_text("mine\n")
    result = warex("proxy", "--port", 0, "--out", "out")

    assert result.code == 2
    assert "already holds a trace" in result.err
    assert (here / "out" / "events.jsonl").read_text() == "mine\n"


def ask(port: int, url: str) -> bytes:
    """What a client is answered that asks a proxy for a plain page."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        head = f"GET {url} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nConnection: close\r\n\r\n"
        client.sendall(head.encode())
        try:
            return read_until_closed(client)
        except ConnectionResetError:
            return b""


@pytest.mark.slow
@pytest.mark.wire
def test_a_site_that_is_down_is_named_and_its_client_gets_nothing(here: Path) -> None:
    url = f"http://127.0.0.1:{reserved_port()}"
    with proxy("--out", here / "out") as running:
        answer = ask(running.port, f"{url}/")
        code, err = running.interrupt()

    assert (code, answer) == (0, b"")
    assert f"warex: {url} cannot be reached" in err


@pytest.mark.slow
@pytest.mark.wire
def test_an_upstream_proxy_that_is_down_is_named(here: Path) -> None:
    upstream = f"http://127.0.0.1:{reserved_port()}"
    with proxy("--out", here / "out", "--upstream", upstream) as running:
        answer = ask(running.port, "http://shop.example/")
        code, err = running.interrupt()

    assert (code, answer) == (0, b"")
    assert f"the upstream proxy is {upstream.removeprefix('http://')}" in err


@pytest.fixture
def stranger(tmp_path: Path) -> CertificateAuthority:
    return ensure_ca(tmp_path / "stranger")


@pytest.fixture
def distrusted(stranger: CertificateAuthority, tmp_path: Path) -> Iterator[int]:
    """The port of a site whose certificate is not trusted here."""
    with served(server_context(*stranger.leaf("localhost", tmp_path), ["http/1.1"])) as origin:
        yield origin.port


@pytest.mark.slow
@pytest.mark.wire
def test_a_bad_certificate_is_named_with_its_remedy(here: Path, distrusted: int) -> None:
    blind = ssl._create_unverified_context()
    with proxy("--out", here / "out") as running:
        # The site comes first: its failure is the client's handshake's.
        with (
            tunnelled(running.port, "localhost", distrusted) as raw,
            pytest.raises(OSError, match="reset"),
        ):
            blind.wrap_socket(raw, server_hostname="localhost")
        code, err = running.interrupt()

    assert code == 0
    assert f"https://localhost:{distrusted} cannot be reached" in err
    assert "--insecure accepts such a certificate" in err


@pytest.mark.slow
@pytest.mark.wire
def test_a_full_disk_ends_the_proxy_at_once_and_keeps_what_was_written(here: Path) -> None:
    with proxy("--out", here / "out", largest_file=4000) as running:
        url = f"http://127.0.0.1:{reserved_port()}/"
        for _ in range(20):
            try:
                ask(running.port, url)
            except OSError:
                break
        code, err = running.end()

    assert code == 3
    assert "out/events.jsonl cannot be written" in err
    assert "Everything written before is kept" in err
    trace = read_trace(here / "out" / "events.jsonl")
    assert len(trace.entries) > 3
    assert not list(trace.events(TrialEnded))


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (401, b'{"error": {"message": "Incorrect API key provided"}}', "answered 401"),
        (200, b"rubbish", "did not answer a completion"),
    ],
)
def test_a_model_endpoint_that_does_not_work_voids_and_stops(
    here: Path, status: int, body: bytes, sentence: str
) -> None:
    with served() as origin:
        headers = [(b"Content-Type", b"application/json")]
        origin.routes["/v1/chat/completions"] = Answer(status, headers, body)
        base_url = f"http://127.0.0.1:{origin.port}/v1"
        (here / "c.toml").write_text(
            'name = "c"\ntasks = {sample = 2}\n[[conditions]]\nname = "clean"\n'
            f'[[agents]]\nname = "a"\nmodel = "x"\nbase_url = "{base_url}"\n'
        )
        done = finished("run", "c.toml", folder=here, environment={"OPENAI_API_KEY": "sk-none"})

    assert done.returncode == 3
    assert sentence in done.stderr
    assert "--resume" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert len(list((here / "runs/c").rglob("outcome.json"))) == 5
