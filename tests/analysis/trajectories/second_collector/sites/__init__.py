"""The sites of the second corpus; one server answers for all hosts, with a world for each trial."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from tests.http_server import Handler, serving


@dataclass(slots=True)
class World:
    """What one trial has changed."""

    reserved: list[str] = field(default_factory=list)
    orders: list[dict[str, str]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    draft: str = ""
    seen: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> int:
        """Count one more of something; return how many there were, from 1."""
        self.seen[what] = self.seen.get(what, 0) + 1
        return self.seen[what]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to a site."""

    method: str
    host: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: str

    @property
    def form(self) -> dict[str, str]:
        return {k: v[0] for k, v in parse_qs(self.body).items()}


@dataclass(frozen=True, slots=True)
class Answer:
    """A site's answer."""

    body: str
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


type Page = Callable[[Asked, World], Answer | None]


def as_json(value: object, status: int = 200) -> Answer:
    return Answer(json.dumps(value), "application/json", status)


def redirect(place: str, status: int = 303, cookie: str = "") -> Answer:
    """Return a redirect, which may set a cookie."""
    cookies = {"Set-Cookie": cookie} if cookie else {}
    return Answer("", status=status, headers={"Location": place} | cookies)


def not_found() -> Answer:
    return Answer("<title>Not found</title><h1>Not found</h1>", status=404)


@contextmanager
def serve(hosts: Mapping[str, Page], world: World) -> Iterator[int]:
    """Serve the hosts on one port of loopback; yield the port."""

    class Sites(Handler):
        def _answer(self) -> None:
            parts = urlsplit(self.path)
            query = {k: v[0] for k, v in parse_qs(parts.query).items()}
            host = self.headers["Host"].split(":")[0]
            body = self.read_body().decode("utf-8", "replace")
            headers = {k.lower(): v for k, v in self.headers.items()}
            asked = Asked(self.command, host, parts.path, query, headers, body)
            page = hosts.get(host)
            answer = (page(asked, world) if page else None) or not_found()
            encoded = answer.body.encode()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(encoded)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(encoded)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _answer

    with serving(Sites) as port:
        yield port
