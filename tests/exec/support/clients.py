"""python clients.py HOSTS [NAME...]: send requests with clients of each kind; print the results.

The result of a client and a path is ``200 2 DIGEST`` (status, protocol and body), or the client's
error message.
"""

import asyncio
import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

PLACES = ("/body", "/failing")
REFUSING = "gone.test"

type Answer = tuple[object, object, bytes]
"""Status, protocol, body."""
type Client = Callable[[str], Answer]


class Unanswered(Exception):
    """The client's error message for a request without an answer."""


def run(*command: str, **more: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        command, capture_output=True, timeout=60, check=False, env={**os.environ, **more}
    )


def error_text(done: "subprocess.CompletedProcess[bytes]") -> str:
    lines = [it for it in done.stderr.decode(errors="replace").splitlines() if it.strip()]
    # Java prints the error first, and then a long stack trace.
    return f"exit {done.returncode}: {' | '.join((*lines[:3], *lines[-6:]))}"


# ---- programs


def curl(*options: str) -> Client:
    def ask(url: str) -> Answer:
        with tempfile.NamedTemporaryFile() as body:
            form = "%{response_code} %{http_version}"
            done = run("curl", "-gsS", "-m", "30", *options, "-o", body.name, "-w", form, url)
            if done.returncode:
                raise Unanswered(error_text(done))
            status, version = done.stdout.decode().split()
            return status, version, body.read()

    return ask


def wget(url: str) -> Answer:
    done = run("wget", "-S", "-t", "1", "-T", "30", "--content-on-error", "-qO-", url, LC_ALL="C")
    lines = [it.split() for it in done.stderr.decode().splitlines()]
    heads = [it for it in lines if it and it[0].startswith("HTTP/")]
    if not heads:
        # With -q it prints no reason.
        again = run("wget", "-nv", "-t", "1", "-T", "30", "-O-", url, LC_ALL="C")
        raise Unanswered(error_text(again))
    return heads[-1][1], heads[-1][0].removeprefix("HTTP/"), done.stdout


NODE_FETCH = """
fetch(process.argv[1]).then(async answer => {
  process.stdout.write(`${answer.status} 1.1\\n`);
  process.stdout.write(Buffer.from(await answer.arrayBuffer()));
}).catch(error => { console.error(String(error.cause || error)); process.exit(1); });
"""
NODE_HTTPS = """
const url = process.argv[1];
require(url.startsWith('https:') ? 'https' : 'http').get(url, answer => {
  process.stdout.write(`${answer.statusCode} ${answer.httpVersion}\\n`);
  answer.pipe(process.stdout);
}).on('error', error => { console.error(String(error)); process.exit(1); });
"""


def program(*command: str) -> Client:
    """Return a client that is a program, which prints status and protocol, then the body."""

    def ask(url: str) -> Answer:
        done = run(*command, url)
        if done.returncode:
            raise Unanswered(error_text(done))
        head, _, body = done.stdout.partition(b"\n")
        status, version = head.decode().split()
        return status, version, body

    return ask


def git(url: str) -> Answer:
    """Clone a repository; return its last commit."""
    where = url.rpartition("/")[0] + ("/repo.git" if url.endswith("/body") else "/failing")
    with tempfile.TemporaryDirectory() as folder:
        done = run("git", "clone", "-q", where, folder, LC_ALL="C", GIT_TERMINAL_PROMPT="0")
        if done.returncode:
            text = error_text(done)
            if "returned error: " in text:
                return text.partition("returned error: ")[2][:3], "", b""
            raise Unanswered(text)
        log = run("git", "-C", folder, "log", "--format=%H %s")
        return 200, "", log.stdout


# ---- Python's


def urllib(url: str) -> Answer:
    from urllib.error import HTTPError
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=30) as answer:
            return answer.status, answer.version, answer.read()
    except HTTPError as error:
        return error.code, getattr(error.fp, "version", None), error.read()


def requests(url: str) -> Answer:
    import requests as library

    answer = library.get(url, timeout=30)
    return answer.status_code, answer.raw.version, answer.content


def httpx(url: str) -> Answer:
    import httpx as library

    with library.Client(http2=True, timeout=30) as client:
        answer = client.get(url)
        return answer.status_code, answer.http_version, answer.content


def websocket(url: str) -> Answer:
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus

    async def talk() -> Answer:
        host, _, path = url.removeprefix("https://").partition("/")
        try:
            async with connect(f"wss://{host}:{WEBSOCKETS}/{path}", open_timeout=30) as line:
                await line.send("said and heard")
                return 101, line.protocol.state.name, str(await line.recv()).encode()
        except InvalidStatus as refusal:
            return refusal.response.status_code, "OPEN", bytes(refusal.response.body or b"")

    return asyncio.run(talk())


WEBSOCKETS = 445


# ---- TCP without HTTP


def tcp(port: int, first: bytes, expected: int) -> Client:
    def ask(url: str) -> Answer:
        host = url.removeprefix("https://").partition("/")[0]
        with socket.create_connection((host, port), timeout=30) as line:
            line.settimeout(30)
            heard = line.recv(expected, socket.MSG_WAITALL) if not first else b""
            line.sendall(first or b"helo\n")
            line.shutdown(socket.SHUT_WR)
            while more := line.recv(65536):
                heard += more
            return "", "tcp", heard

    return ask


CLIENTS: dict[str, Client] = {
    "curl, HTTP/2": curl(),
    "curl, HTTP/1.1": curl("--http1.1"),
    "wget": wget,
    "urllib": urllib,
    "requests": requests,
    "httpx, HTTP/2": httpx,
    "Node, fetch": program("node", "-e", NODE_FETCH),
    "Node, https": program("node", "-e", NODE_HTTPS),
    "git": git,
    "WebSocket": websocket,
}
RAW: dict[str, Client] = {
    "TCP, the client first": tcp(9001, b"a line\n" * 9999, 0),
    "TCP, the server first": tcp(9002, b"", 11),
}


_OTHERS: dict[str, list[str]] = json.loads(os.environ.get("TEST_OTHERS", "{}"))
OTHERS: dict[str, Client] = {name: program(*command) for name, command in _OTHERS.items()}
"""More programs, from the caller."""


def result_of(client: Client, url: str) -> str:
    try:
        status, version, body = client(url)
    except Unanswered as gave_up:
        return str(gave_up)
    except Exception as error:  # noqa: BLE001 - whatever the client raises
        return f"{type(error).__name__}: {error} ({error.__cause__ or error.__context__})"
    return f"{status} {version} {hashlib.sha256(body).hexdigest()[:8]}"


def main(hosts: Iterable[str], names: Iterable[str]) -> None:
    wanted = set(names)
    every = CLIENTS | RAW | OTHERS
    table = {
        f"{name} {host}{place}": (client, f"{host}{place}")
        for name, client in every.items()
        if name in wanted
        for host in hosts
        for place in (PLACES[:1] if name in RAW else PLACES)
    }
    with ThreadPoolExecutor(4) as threads:
        message = threads.map(lambda it: result_of(*it), table.values())
        print(json.dumps(dict(zip(table, message, strict=True))))


if __name__ == "__main__":
    main(sys.argv[1].split(), sys.argv[2:] or [*CLIENTS, *RAW])
