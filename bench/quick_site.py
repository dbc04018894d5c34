"""A site that answers 2 kB over TLS and costs as little as Python allows.

What site and client use of the machine is missing to the proxy between them. So: one thread, a
selector, TLS straight on the socket, and one answer made in advance.

    python -m bench.quick_site CERTIFICATE KEY     prints its port; ends when its input does
"""

import selectors
import socket
import ssl
import sys

BODY = (b"<!doctype html><title>2 kB</title>" + b"<p>All work and no play.</p>" * 80)[:2000]
ANSWER = (
    b"HTTP/1.1 200 OK\r\n"
    b"Content-Type: text/html; charset=utf-8\r\n"
    b"Content-Length: %d\r\n"
    b"Cache-Control: no-store\r\n"
    b"Server: bench\r\n"
    b"\r\n" % len(BODY)
) + BODY


def serve(context: ssl.SSLContext, listener: socket.socket) -> None:
    """Answer until standard input ends."""
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    selector.register(sys.stdin, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            ready = key.fileobj
            if isinstance(ready, ssl.SSLSocket):
                try:
                    asked = ready.recv(65536)
                except ssl.SSLWantReadError:
                    continue
                except OSError:
                    asked = b""
                if asked:
                    # A request without a body ends so, and comes in one TLS record.
                    if asked.endswith(b"\r\n\r\n"):
                        ready.sendall(ANSWER)
                else:
                    selector.unregister(ready)
                    ready.close()
            elif ready is listener:
                raw, _ = listener.accept()
                raw.settimeout(10)
                raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    connected = context.wrap_socket(raw, server_side=True)
                except OSError:
                    continue
                connected.setblocking(False)
                selector.register(connected, selectors.EVENT_READ)
            else:
                return


def main() -> None:
    """Serve on any free port of loopback."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        print(listener.getsockname()[1], flush=True)
        serve(context, listener)


if __name__ == "__main__":
    main()
