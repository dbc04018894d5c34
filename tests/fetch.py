"""python fetch.py [--status] [-m SECONDS] [-H NAME:VALUE] URL: an HTTP client without dependencies.

It uses urllib with the environment's proxies, prints the answer's body (or its status), and exits
with curl's codes: 6 unknown name, 7 refused, 28 timeout, 56 broken off, 60 not trusted.
"""

import argparse
import http.client
import socket
import ssl
import sys
import urllib.error
import urllib.request

FETCH = (sys.executable, __file__)


def _code(error: object) -> int:
    match error:
        case urllib.error.URLError():
            return _code(error.reason)
        case socket.gaierror():
            return 6
        case ConnectionRefusedError():
            return 7
        case TimeoutError():
            return 28
        case ssl.SSLCertVerificationError():
            return 60
        case OSError() | http.client.HTTPException():
            return 56
        case _:
            return 1


def _main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--status", action="store_true")
    parser.add_argument("-m", type=float, default=20)
    parser.add_argument("-H", action="append", default=[])
    parser.add_argument("url")
    asked = parser.parse_args()
    request = urllib.request.Request(asked.url, headers=dict(it.split(":", 1) for it in asked.H))
    try:
        try:
            answer = urllib.request.urlopen(request, timeout=asked.m)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        print(error, file=sys.stderr)
        return _code(error)
    sys.stdout.write(str(answer.status) if asked.status else body.decode())
    return 0


if __name__ == "__main__":
    sys.exit(_main())
