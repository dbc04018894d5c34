"""Malformed and unusual HTTP/1 requests and answers (RFC 9110, RFC 9112)."""

from collections.abc import Iterator
from typing import Final

from warex.seeds import derive_seed

_BODY: Final = b"<html>hello</html>"
_CHUNKED: Final = b"12\r\n<html>hello</html>\r\n0\r\n\r\n"
_LENGTH: Final = b"Content-Length: %d\r\n" % len(_BODY)
_CHUNKS: Final = b"Transfer-Encoding: chunked\r\n"
_TYPE: Final = b"Content-Type: text/html\r\n"


def answers() -> Iterator[tuple[str, bytes]]:
    """Yield named answers to a GET; the site closes the connection after each."""
    ok = b"HTTP/1.1 200 OK\r\n" + _TYPE
    for line in (
        b"HTTP/1.1 200 OK",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 ",
        b"HTTP/1.1  200  OK",
        b"HTTP/1.1 200\tOK",
        b"HTTP/1.1\t200 OK",
        b"HTTP/1.1",
        b"HTTP/1.1 ",
        b"HTTP/1.1 OK",
        b"HTTP/1.1 2000 OK",
        b"HTTP/1.1 20 OK",
        b"HTTP/1.1 0 OK",
        b"HTTP/1.1 -1 OK",
        b"HTTP/1.1 200OK",
        b"HTTP/1.1 200.5 OK",
        b"HTTP/1.1 +200 OK",
        b"HTTP/1.1 0200 OK",
        b"HTTP/1.1 99999999999 OK",
        b"HTTP/1.1 600 What",
        b"HTTP/1.1 999 What",
        b"HTTP/1.0 200 OK",
        b"HTTP/0.9 200 OK",
        b"HTTP/1.2 200 OK",
        b"HTTP/2.0 200 OK",
        b"HTTP/2 200 OK",
        b"HTTP/3 200 OK",
        b"HTTP/11 200 OK",
        b"HTTP/1.10 200 OK",
        b"HTTP/1. 200 OK",
        b"HTTP/.1 200 OK",
        b"HTTP 200 OK",
        b"HTTP/ 200 OK",
        b"HTTPS/1.1 200 OK",
        b"http/1.1 200 ok",
        b"hTtP/1.1 200 OK",
        b"\r\nHTTP/1.1 200 OK",
        b"\r\n\r\nHTTP/1.1 200 OK",
        b"\n\n\n\n\nHTTP/1.1 200 OK",
        b"abcdHTTP/1.1 200 OK",
        b"abcdeHTTP/1.1 200 OK",
        b" HTTP/1.1 200 OK",
        b"\xef\xbb\xbfHTTP/1.1 200 OK",
        b"ICY 200 OK",
        b"RTSP/1.0 200 OK",
        b"SSH-2.0-OpenSSH_9.2",
        b"220 mail ESMTP",
        b"HTTP/1.1 200 \xc3\xa9",
        b"HTTP/1.1 200 \xff",
        b"HTTP/1.1 200 O\x00K",
        b"HTTP/1.1 200 O\x07K",
        b"HTTP/1.1 200 OK\rX: y",
        b"HTTP/1.1 200 " + b"a" * 70_000,
        b"HTTP/1.1 101 Switching Protocols",
        b"HTTP/1.1 204 No Content",
        b"HTTP/1.1 205 Reset Content",
        b"HTTP/1.1 304 Not Modified",
        b"HTTP/1.1 100 Continue",
        b"HTTP/1.1 103 Early Hints",
        b"HTTP/1.1 199 What",
        b"HTTP/1.1 206 Partial Content",
        b"HTTP/1.1 301 Moved",
        b"HTTP/1.1 401 Unauthorized",
        b"HTTP/1.1 407 Proxy Authentication Required",
        b"HTTP/1.1 408 Request Timeout",
        b"HTTP/1.1 421 Misdirected Request",
        b"HTTP/1.1 502 Bad Gateway",
    ):
        name = f"line {line[:40]!r}"
        yield name, line + b"\r\n" + _TYPE + _LENGTH + b"\r\n" + _BODY
        yield (
            f"{name}, lines of LF",
            (line + b"\r\n" + _TYPE + _LENGTH + b"\r\n").replace(b"\r\n", b"\n") + _BODY,
        )
        yield f"{name}, chunks", line + b"\r\n" + _TYPE + _CHUNKS + b"\r\n" + _CHUNKED
    for length in (
        b"18, 18",
        b"18,18",
        b"18, 19",
        b"18 18",
        b"18;",
        b"18a",
        b"+18",
        b"-18",
        b"0x12",
        b"18.0",
        b"1e1",
        b"018",
        b" 18 ",
        b"\t18",
        b"",
        b",",
        b",18",
        b"18,",
        b"abc",
        b"5",
        b"0",
        b"500",
        b"99999999999999999999",
        b"9223372036854775807",
        b"9223372036854775808",
        b'"18"',
        b"18\x0b",
        b"\xd9\xa1\xd9\xa8",
    ):
        yield f"length {length!r}", ok + b"Content-Length: " + length + b"\r\n\r\n" + _BODY
    for lines in (
        _LENGTH + _LENGTH,
        _LENGTH + b"content-length: 18\r\n",
        _LENGTH + b"Content-Length: 19\r\n",
        b"Content-Length: 5\r\n" + _LENGTH,
        b"Content-Length : 18\r\n",
        b"Content-Length\t: 18\r\n",
        b" Content-Length: 18\r\n",
        b"Content-Length:18\r\n",
        b"Content-Length:\r\n 18\r\n",
        b"Content-Length: 1\r\n 8\r\n",
        b"Content-Length\r\n",
        b"Content-Length 18\r\n",
        b"Content_Length: 18\r\n",
        b"X: y\r\n\tfolded\r\n" + _LENGTH,
        b"X: y\r\n\r \r\n" + _LENGTH,
        b"X: y\rContent-Length: 18\r\n",
        b"no colon\r\n" + _LENGTH,
        b"no colon\r\n  folded: yes\r\n" + _LENGTH,
        b": no name\r\n" + _LENGTH,
        b":\r\n" + _LENGTH,
        b"\xff\xfe: \xff\r\n" + _LENGTH,
        b"a b: c\r\n" + _LENGTH,
        b"a(b): c\r\n" + _LENGTH,
        b"a@b: c\r\n" + _LENGTH,
        b"X: \x00\r\n" + _LENGTH,
        b"X\x00: y\r\n" + _LENGTH,
        b"X: \x01\x7f\x80\r\n" + _LENGTH,
        b"X: gr\xc3\xbc\xc3\x9f\r\n" + _LENGTH,
        b"X: " + b"a" * 100_000 + b"\r\n" + _LENGTH,
        b"X: " + b"a" * 300_000 + b"\r\n" + _LENGTH,
        b"".join(b"X-%d: y\r\n" % n for n in range(1000)) + _LENGTH,
        b"Location: /a\r\nLocation: /b\r\n" + _LENGTH,
        b"Content-Disposition: inline\r\nContent-Disposition: attachment\r\n" + _LENGTH,
        b"Content-Type: text/html, text/plain\r\n" + _LENGTH,
        b"Content-Type: nonsense\r\n" + _LENGTH,
        b"Content-Encoding: gzip\r\n" + _LENGTH,
        b"Content-Encoding: nonsense\r\n" + _LENGTH,
        b"Connection: close\r\n" + _LENGTH,
        b"Connection: Keep-Alive\r\n" + _LENGTH,
        b"Connection: upgrade\r\nUpgrade: h2c\r\n" + _LENGTH,
        b"Proxy-Connection: close\r\n" + _LENGTH,
        b"Trailer: X\r\n" + _LENGTH,
        b"Set-Cookie: a=b; c\r\nSet-Cookie: \xff=\x80\r\n" + _LENGTH,
        b"Refresh: nonsense\r\n" + _LENGTH,
        b"Server: nginx\r\nVia: 1.1 x\r\n" + _LENGTH,
        b"",
    ):
        yield f"lines {lines[:40]!r} ({len(lines)})", ok + lines + b"\r\n" + _BODY
    for coding in (
        b"chunked",
        b"Chunked",
        b" chunked ",
        b"xchunked",
        b"chunkedx",
        b"chunked, chunked",
        b"gzip, chunked",
        b"chunked, gzip",
        b"chunked,",
        b"identity",
        b"identity, chunked",
        b"gzip",
        b"",
        b'"chunked"',
        b"chunked;q=1",
        b"\x0bchunked",
        b"chunked\x00",
        b"x chunked",
    ):
        coded = b"Transfer-Encoding: " + coding + b"\r\n"
        yield f"coding {coding!r}", ok + coded + b"\r\n" + _CHUNKED
        yield f"coding {coding!r} with a length", ok + coded + _LENGTH + b"\r\n" + _CHUNKED
    yield "two codings", ok + _CHUNKS * 2 + b"\r\n" + _CHUNKED
    yield "two codings, one unknown", ok + _CHUNKS + b"Transfer-Encoding: x\r\n\r\n" + _CHUNKED
    for chunks in (
        b"12;a=b\r\n%b\r\n0\r\n\r\n",
        b'12;a="b;c"\r\n%b\r\n0;x\r\n\r\n',
        b"12 \r\n%b\r\n0\r\n\r\n",
        b" 12\r\n%b\r\n0\r\n\r\n",
        b"12\t\r\n%b\r\n0\r\n\r\n",
        b"0012\r\n%b\r\n000\r\n\r\n",
        b"0x12\r\n%b\r\n0\r\n\r\n",
        b"+12\r\n%b\r\n0\r\n\r\n",
        b"-12\r\n%b\r\n0\r\n\r\n",
        b"12\n%b\n0\n\n",
        b"12\n%b\r\n0\r\n\n",
        b"12\r%b\r0\r\r",
        b"12\r\r\n%b\r\n0\r\n\r\n",
        b"12\r\n%b0\r\n\r\n",
        b"12\r\n%bmore\r\n0\r\n\r\n",
        b"11\r\n%b\r\n0\r\n\r\n",
        b"13\r\n%b\r\n0\r\n\r\n",
        b"12\r\n%b\r\n",
        b"12\r\n%b",
        b"12\r\n%b\r\n0\r\n",
        b"12\r\n%b\r\n0",
        b"12\r\n%b\r\n0\r\nX: y\r\n\r\n",
        b"12\r\n%b\r\n0\r\nno colon\r\n\r\n",
        b"12\r\n%b\r\n0\r\n\xff\xff: y\r\n\r\n",
        b"12\r\n%b\r\n0\r\nContent-Length: 5\r\n\r\n",
        b"12\r\n%b\r\n0\r\n\r\nmore",
        b"12\r\n%b\r\n\r\n0\r\n\r\n",
        b"\r\n12\r\n%b\r\n0\r\n\r\n",
        b"zz\r\n%b\r\n0\r\n\r\n",
        b"\r\n%b\r\n0\r\n\r\n",
        b"ffffffffffffffff\r\n%b\r\n0\r\n\r\n",
        b"fffffffffffffffffffff\r\n%b\r\n0\r\n\r\n",
        b"7fffffffffffffff\r\n%b\r\n0\r\n\r\n",
        b"12;" + b"a" * 20_000 + b"\r\n%b\r\n0\r\n\r\n",
        b"12;" + b"a" * 10_000 + b"\r\n%b\r\n0\r\n\r\n",
        b"%b",
        b"",
    ):
        sent = chunks.replace(b"%b", _BODY)
        yield f"chunks {chunks[:40]!r} ({len(chunks)})", ok + _CHUNKS + b"\r\n" + sent
    for size in (0, 1, 4, 5, 7, 8, 9, 12, 15, 17, 20, 30, 41, 42, 43):
        response = ok + _LENGTH + b"\r\n" + _BODY
        yield f"the first {size} bytes", response[:size]
    yield "more than the length", ok + _LENGTH + b"\r\n" + _BODY + b"more"
    yield "another answer behind it", (ok + _LENGTH + b"\r\n" + _BODY) * 2
    yield "hints first", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + b"\r\n" + _BODY
    yield "a length in hints", b"HTTP/1.1 103 x\r\n" + _LENGTH + b"\r\n" + ok + b"\r\n" + _BODY
    yield "ten times 100", b"HTTP/1.1 100 Continue\r\n\r\n" * 10 + ok + b"\r\n" + _BODY
    yield "no answer after 100", b"HTTP/1.1 100 Continue\r\n\r\n" + _BODY
    yield "HTTP/0.9", _BODY
    yield "zeros", bytes(100)
    yield "TLS", b"\x15\x03\x01\x00\x02\x02\x28"
    yield "lines of LF", ok.replace(b"\r\n", b"\n") + b"\n" + _BODY
    yield "mixed ends of lines", ok + b"X: y\n\r\n" + _BODY
    yield "LF, CR, LF", ok.replace(b"\r\n", b"\n") + b"\r\n" + _BODY
    yield "CR alone", ok.replace(b"\r\n", b"\r") + b"\r" + _BODY


def requests(site: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what a client may send through a tunnel to ``site`` (host and port), with a name."""
    named = b"Host: " + site + b"\r\n"
    for line in (
        b"GET / HTTP/1.1",
        b"GET  / HTTP/1.1",
        b"GET\t/\tHTTP/1.1",
        b" GET / HTTP/1.1",
        b"GET / HTTP/1.1 ",
        b"GET /",
        b"GET",
        b"GET / HTTP/1.0",
        b"GET / HTTP/0.9",
        b"GET / HTTP/2.0",
        b"GET / HTTP/3.0",
        b"GET / HTTP/9.9",
        b"GET / HTTP/1.2",
        b"GET / HTTP/1",
        b"GET / http/1.1",
        b"GET / HTTP/1.1\r\n" * 2,
        b"GET a HTTP/1.1",
        b"GET * HTTP/1.1",
        b"OPTIONS * HTTP/1.1",
        b"GET ? HTTP/1.1",
        b"GET // HTTP/1.1",
        b"GET /// HTTP/1.1",
        b"GET //a:b@c:99999/ HTTP/1.1",
        b"GET /a b HTTP/1.1",
        b"GET /\xff HTTP/1.1",
        b"GET /\xc3\xa9 HTTP/1.1",
        b"GET /\x00 HTTP/1.1",
        b"GET /\x01\x7f HTTP/1.1",
        b"GET /%zz%00%0d%0a HTTP/1.1",
        b"GET /[::1 HTTP/1.1",
        b"GET /#fragment HTTP/1.1",
        b"GET /?a=b?c#d HTTP/1.1",
        b"GET /\\..\\ HTTP/1.1",
        b"GET /" + b"a" * 60_000 + b" HTTP/1.1",
        b"GET /?" + b"a=b&" * 10_000 + b" HTTP/1.1",
        b"GET http://other.example/ HTTP/1.1",
        b"GET http://other.example:99999/ HTTP/1.1",
        b"GET http://user:pw@other.example/ HTTP/1.1",
        b"GET http:// HTTP/1.1",
        b"GET http:/// HTTP/1.1",
        b"GET http://[::1/ HTTP/1.1",
        b"GET http://\xff/ HTTP/1.1",
        b"GET http://a..b/ HTTP/1.1",
        b"GET HTTP://other.example HTTP/1.1",
        b"GET ftp://other.example/ HTTP/1.1",
        b"GET file:///etc/passwd HTTP/1.1",
        b"GET javascript:alert(1) HTTP/1.1",
        b"GET other.example:443 HTTP/1.1",
        b"CONNECT other.example:443 HTTP/1.1",
        b"CONNECT other.example HTTP/1.1",
        b"CONNECT / HTTP/1.1",
        b"CONNECT * HTTP/1.1",
        b"connect a:1 HTTP/1.1",
        b"G@T / HTTP/1.1",
        b"G\xffT / HTTP/1.1",
        b"G\x00T / HTTP/1.1",
        b"get / HTTP/1.1",
        b"BREW / HTTP/1.1",
        b"TRACE / HTTP/1.1",
        b"PRI * HTTP/2.0",
        b"A" * 5000 + b" / HTTP/1.1",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"SSH-2.0-OpenSSH_9.2",
        b"\x05\x01\x00",
        b"\x00\x00\x00\x00",
        b"{}",
    ):
        yield f"line {line[:40]!r} ({len(line)})", line + b"\r\n" + named + b"\r\n"
    for host in (
        b"localhost:99999",
        b"localhost:65536",
        b"localhost:-1",
        b"localhost:0",
        b"localhost:",
        b"localhost:http",
        b"localhost:80:80",
        b"localhost:1e3",
        b"localhost:" + b"9" * 5000,
        b"user:pw@" + site,
        b"@" + site,
        b"[::1",
        b"[::1]",
        b"[::1]:80",
        b"::1",
        b"[::1]]:80",
        b"[zz]",
        b"[]",
        b"[v1.x]",
        b"[fe80::1%eth0]",
        b"a b",
        b"a/b",
        b"a?b",
        b"a#b",
        b"a\\b",
        b"a,b",
        b"a..b",
        b".",
        b"..",
        b"a.",
        b"-",
        b"_",
        b"%",
        b"%00",
        b"\xff",
        b"\x00",
        b"\xc3\xa9.example",
        b"xn--\xff",
        b"xn--zzzzzz",
        b"http://" + site,
        b"*",
        b"LOCALHOST",
        b"999.999.999.999",
        b"0x7f000001",
        b"127.1",
        b"a" * 64 + b".example",
        b"a." * 200,
        b"",
        b" ",
        b"\xe2\x84\x80.example",
        b"canary.warex.test",
        b"mitm.it",
    ):
        yield f"host {host[:40]!r} ({len(host)})", b"GET / HTTP/1.1\r\nHost: " + host + b"\r\n\r\n"
    for lines in (
        named * 2,
        named + b"Host: other.example\r\n",
        b"Host: other.example\r\n" + named,
        b"",
        b"Host : " + site + b"\r\n",
        b" Host: " + site + b"\r\n",
        b"Host:\r\n " + site + b"\r\n",
        b"host: " + site + b"\r\nHOST: " + site + b"\r\n",
        named + b"no colon\r\n",
        named + b": no name\r\n",
        named + b"a b: c\r\n",
        named + b"X: y\r\n folded\r\n",
        named + b"X: \x00\r\n",
        named + b"X\x00: y\r\n",
        named + b"X: \xff\xfe\r\n",
        named + b"\xff: y\r\n",
        named + b"X: y\rZ: w\r\n",
        named + b"X: y\nZ: w\n",
        named + b"X: " + b"a" * 60_000 + b"\r\n",
        named + b"".join(b"X-%d: y\r\n" % n for n in range(500)),
        named + b"Expect: 100-continue\r\n",
        named + b"Expect: nonsense\r\n",
        named + b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AA\r\n",
        named + b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
        named + b"Upgrade: \xff\r\nConnection: \xff\r\n",
        named + b"Connection: close, host, keep-alive\r\n",
        named + b"Cookie: \xff=\x00; a\r\nCookie: b\r\n",
        named + b"Referer: http://[::1\r\n",
        named + b"Origin: \xff\r\n",
        named + b"Sec-Fetch-Dest: \xff\r\nSec-Fetch-Mode: nonsense\r\n",
        named + b"Accept: \xff/\x00\r\n",
        named + b"User-Agent: \xff\r\n",
        named + b"Range: bytes=nonsense\r\n",
        named + b"Content-Type: \xff\r\nContent-Encoding: nonsense\r\n",
        named + b"TE: trailers\r\nTrailer: X\r\n",
        named + b"Proxy-Authorization: Basic \xff\r\nProxy-Connection: keep-alive\r\n",
        named + b":authority: other.example\r\n",
    ):
        yield f"lines {lines[-40:]!r} ({len(lines)})", b"GET / HTTP/1.1\r\n" + lines + b"\r\n"
    for lines, body in (
        (b"Content-Length: 2\r\n", b"ab"),
        (b"Content-Length: 2\r\nContent-Length: 2\r\n", b"ab"),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n", b"ab"),
        (b"Content-Length: 2, 2\r\n", b"ab"),
        (b"Content-Length: +2\r\n", b"ab"),
        (b"Content-Length: -2\r\n", b"ab"),
        (b"Content-Length: 02\r\n", b"ab"),
        (b"Content-Length: 2a\r\n", b"ab"),
        (b"Content-Length: abc\r\n", b"ab"),
        (b"Content-Length: \r\n", b"ab"),
        (b"Content-Length: " + b"9" * 5000 + b"\r\n", b"ab"),
        (b"Content-Length: \xd9\xa2\r\n", b"ab"),
        (b"Content-Length : 2\r\n", b"ab"),
        (b"Transfer-Encoding: chunked\r\n", b"2\r\nab\r\n0\r\n\r\n"),
        (b"Transfer-Encoding: Chunked\r\n", b"2\r\nab\r\n0\r\n\r\n"),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", b"2\r\nab\r\n0\r\n\r\n"),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
        (b"Transfer-Encoding: xchunked\r\n", b"2\r\nab\r\n0\r\n\r\n"),
        (b"Transfer-Encoding: chunked, gzip\r\n", b"2\r\nab\r\n0\r\n\r\n"),
        (b"Transfer-Encoding: gzip, chunked\r\n", b"2\r\nab\r\n0\r\n\r\n"),
        (b"Transfer-Encoding: identity\r\n", b"ab"),
        (b"Transfer-Encoding: gzip\r\n", b"ab"),
        (b"Transfer-Encoding:\r\n", b"ab"),
        (b"Transfer-Encoding: \x0bchunked\r\n", b"0\r\n\r\n"),
        (b"Transfer-Encoding: \xff\r\n", b"0\r\n\r\n"),
        (b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n"),
        *(
            (b"Transfer-Encoding: chunked\r\n", chunks)
            for chunks in (
                b"2;a=b\r\nab\r\n0\r\n\r\n",
                b"2\nab\n0\n\n",
                b"zz\r\nab\r\n0\r\n\r\n",
                b"-2\r\nab\r\n0\r\n\r\n",
                b"ffffffffffffffffffffffff\r\nab\r\n",
                b"2\r\nabc\r\n0\r\n\r\n",
                b"2\r\nab\r\n0\r\nX: y\r\n\r\n",
                b"2\r\nab\r\n0\r\nno colon\r\n\r\n",
                b"2\r\nab\r\n0\r\n\xff: \xff\r\n\r\n",
                b"\r\n\r\n",
                b"2;" + b"a" * 100_000,
            )
        ),
    ):
        name = f"body {lines[:60]!r} {body[:20]!r}"
        yield name, b"POST / HTTP/1.1\r\n" + named + lines + b"\r\n" + body
    usual = b"GET / HTTP/1.1\r\n" + named + b"\r\n"
    yield "blank lines first", b"\r\n\n\r\n" + usual
    yield "two in one", usual * 2
    yield "rubbish behind it", usual + b"\xff\x00rubbish\r\n\r\n"
    yield "lines of LF", usual.replace(b"\r\n", b"\n")
    yield "CR alone", usual.replace(b"\r\n", b"\r")
    yield "no end", b"GET / HTTP/1.1\r\n" + named + b"X: " + b"a" * 400_000
    yield "half", usual[:10]


_BYTES: Final = b'\x00\t\n\r "#%,/:;=?@[\\]\x7f\x80\xff0A'


def mutated(data: bytes, seed: int, times: int = 2) -> bytes:
    """Return the data with some bytes, pieces or lines dropped, doubled, moved or inserted.

    Equal arguments give equal results.
    """
    for turn in range(times):

        def draw(below: int, what: str, turn: int = turn) -> int:
            return derive_seed(seed, f"{turn} {what}") % max(below, 1)

        at, size = draw(len(data), "where"), 1 + draw(8, "size")
        strange = _BYTES[draw(len(_BYTES), "byte")]
        lines = data.split(b"\r\n")
        match draw(7, "how"):
            case 0:
                data = data[:at] + data[at + size :]
            case 1:
                data = data[:at] + data[at : at + size] * 2 + data[at + size :]
            case 2:
                data = data[:at] + bytes((strange,)) + data[at:]
            case 3:
                data = data[:at] + bytes((strange,)) + data[at + 1 :]
            case 4:
                line = lines[draw(len(lines), "line")]
                lines.insert(draw(len(lines), "to"), line)
                data = b"\r\n".join(lines)
            case 5:
                del lines[draw(len(lines), "line")]
                data = b"\r\n".join(lines)
            case _:
                data = data[:at] + data[at:].swapcase()
    return data
