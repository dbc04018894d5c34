"""What is in no file of a run folder: some 380 planted secrets, in several spellings."""

import base64
import json
import os
import shlex
import stat
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.cli.process import WAREX, finished
from tests.traces.planted_secrets import Planted, planted
from warex.traces import LlmCall, RequestSeen, read_trace

pytestmark = pytest.mark.wire

SECRETS = planted("a run folder")

COMPLETION = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "gpt-4o-mini",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "content": next(
                        it.text for it in SECRETS if it.place == "text" and it.context != "{}"
                    ),
                },
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }
).encode()

CLIENT = """
import http.client, json, os, sys, urllib.parse
base = urllib.parse.urlsplit(sys.argv[2])
plan = json.load(open(sys.argv[1]))
site = urllib.parse.urlsplit(plan["origin"])
for method, path, headers, body in plan["site"] + plan["model"]:
    host = site if method == "GET" else base
    proxy = urllib.parse.urlsplit(os.environ["http_proxy"])
    connection = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=30)
    connection.putrequest(method, f"{host.scheme}://{host.netloc}{path}", skip_host=True)
    connection.putheader("Host", host.netloc)
    for name, value in headers:
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body.encode())
    connection.getresponse().read()
    connection.close()
for line in plan["print"]:
    print(line)
print(json.dumps(dict(os.environ)))
for name, value in os.environ.items():
    print(name, value, urllib.parse.quote(value, safe=""), sep="=")
"""


class _Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        for secret in SECRETS:
            if secret.place == "answer_header" and self.path == "/answer":
                self.send_header(secret.name, secret.text)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(COMPLETION)))
        self.end_headers()
        self.wfile.write(COMPLETION)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()


def plan(origin: str) -> dict[str, object]:
    """Return what the command is to send and print, so that each secret passes in its place."""
    site: list[object] = [["GET", "/answer", [], ""]]
    messages: list[object] = []
    printed: list[str] = []
    for secret in SECRETS:
        match secret.place:
            case "header":
                site.append(["GET", "/", [[secret.name, secret.text]], ""])
            case "query" if secret.name:
                key = quote(secret.name, safe="[].")
                site.append(["GET", f"/p?a=1&{key}={quote(secret.value, safe='')}&z=2", [], ""])
            case "query":
                path = secret.text.partition("://")[2].partition("/")[2]
                site.append(["GET", f"/{quote(path, safe='/?=&:%@')}", [], ""])
            case "path":
                site.append(["GET", secret.text, [], ""])
            case "fragment":
                link = f"https://a.example/p#{secret.name}={secret.value}"
                site.append(["GET", "/", [["Referer", link]], ""])
            case "text":
                messages.append({"role": "user", "content": secret.text})
                printed.append(secret.text)
                printed.append(json.dumps({"text": secret.text}))
                if secret.context != "{}":
                    printed.append(base64.b64encode(secret.text.encode()).decode())
            case "field":
                asked = json.dumps({secret.name: secret.value, "other": 1})
                call = {"name": "fill", "arguments": asked}
                messages.append(
                    {
                        "role": "assistant",
                        "content": f"I call fill({asked})",
                        "tool_calls": [{"id": "c1", "type": "function", "function": call}],
                    }
                )
                printed.append(asked)
            case "variable":
                hidden = quote(secret.value, safe="")
                site.append(["GET", f"/x?note={hidden}", [["X-Note", hidden]], ""])
                messages.append({"role": "user", "content": f"it is {secret.value}."})
            case "argument":
                printed.append(f"$ tool {secret.text}")
    body = json.dumps({"model": "gpt-4o-mini", "messages": messages})
    model = [["POST", "/v1/chat/completions", [["Content-Type", "application/json"]], body]]
    return {"origin": origin, "site": site, "model": model, "print": printed}


def spelled(secret: Planted) -> Iterable[bytes]:
    value = secret.value
    yield value.encode()
    yield json.dumps(value)[1:-1].encode()
    yield quote(value, safe="").encode()
    yield quote(quote(value, safe=""), safe="").encode()
    yield base64.b64encode(value.encode()).rstrip(b"=")[:-1]
    yield from (line.encode() for line in value.splitlines() if not line.startswith("-----"))


def occurrences_in(folder: Path, secrets: Iterable[Planted]) -> list[tuple[str, str, str, str]]:
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return [
        (str(path.relative_to(folder)), secret.place, secret.name or secret.context, secret.value)
        for secret in secrets
        for path, content in files.items()
        if any(spelling in content for spelling in spelled(secret))
    ]


def is_private(folder: Path) -> bool:
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    return all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items())


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    before = os.umask(0)
    yield {secret.name: secret.value for secret in SECRETS if secret.place == "variable"}
    os.umask(before)


def test_no_file_of_exec_has_a_secret(
    port: int, tmp_path: Path, environment: dict[str, str]
) -> None:
    order, client, out = (tmp_path / name for name in ("order.json", "client.py", "run"))
    origin, model = "http://site.warex.test", "http://api.openai.com"
    order.write_text(json.dumps(plan(origin)))
    client.write_text(CLIENT)
    maps = [it for name in (origin, model) for it in ("--map", f"{name}=http://127.0.0.1:{port}")]

    done = finished(
        "exec",
        *("--isolate", "environment", "--out", out, *maps),
        *("--", sys.executable, client, order, model),
        environment={**environment, "WAREX_CA_DIR": str(tmp_path / "ca")},
    )

    assert done.returncode == 0, done.stderr
    trace = read_trace(out / "events.jsonl")
    asked = [event for event in trace.events(RequestSeen)]
    assert len(asked) > 200
    assert len(list(trace.events(LlmCall))) == 1
    # What is no secret is still there.
    assert sum("a=1&" in event.url and event.url.endswith("&z=2") for event in asked) > 50
    assert is_private(out)
    left = occurrences_in(out, SECRETS)
    print(f"{len(left)} of {len(SECRETS)} planted secrets were found in the run folder")
    print(*left, sep="\n")
    assert left == []


CAMPAIGN = """\
name = "planted"
timeout_s = 120
[benchmark]
name = "command"
sites = ["{origin}"]
[benchmark.options]
command = {command}
tasks = ["look"]
arm = "start"
[benchmark.options.environment]
SHOP_PASSWORD = "{password}"
[[agents]]
name = "mine"
model = "gpt-4o-mini"
base_url = "{model}/v1"
[[conditions]]
name = "clean"
"""


@pytest.mark.slow
def test_no_file_of_a_campaign_has_a_secret(
    port: int, tmp_path: Path, environment: dict[str, str]
) -> None:
    order, client, out = (tmp_path / name for name in ("order.json", "client.py", "run"))
    origin, model = "http://site.warex.test", "http://api.openai.com"
    order.write_text(json.dumps(plan(origin)))
    client.write_text(CLIENT)
    password = "Harbor.1234campaign"
    words = [secret.text for secret in SECRETS if secret.place == "argument"]
    command = shlex.join([sys.executable, str(client), str(order), model]) + " " + " ".join(words)
    campaign = tmp_path / "campaign.toml"
    campaign.write_text(
        CAMPAIGN.format(origin=origin, model=model, password=password, command=json.dumps(command))
    )
    maps = [it for name in (origin, model) for it in ("--map", f"{name}=http://127.0.0.1:{port}")]

    done = subprocess.run(
        [*WAREX, "run", campaign, "--out", out, "--isolate", "environment", *maps],
        env={**os.environ, **environment, "WAREX_CA_DIR": str(tmp_path / "ca")},
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )

    assert (out / "manifest.json").exists(), done.stderr
    log = sorted(out.rglob("agent.log"))[-1]
    assert "[redacted]" in log.read_text(), done.stdout + done.stderr
    trace = read_trace(log.with_name("events.jsonl"))
    assert len(list(trace.events(RequestSeen))) > 200
    assert is_private(out)
    known = Planted("variable", "SHOP_PASSWORD", password)
    left = occurrences_in(out, (*SECRETS, known))
    print(f"{len(left)} of {len(SECRETS) + 1} planted secrets were found in the run folder")
    assert left == []
