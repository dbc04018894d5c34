"""A site that answers 2 kB over TLS and uses as little CPU as Python allows.

Site, client and proxy share the machine. So: one thread, a selector, TLS directly on the socket,
and answers prepared in advance.

    python -m bench.traffic.quick_site CERTIFICATE KEY [h2]
                                       prints its port; ends with standard input
"""

import selectors
import socket
import ssl
import sys

from bench.traffic import http2, messages


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
                try:
                    if asked and (answer := key.data(asked)):
                        ready.sendall(answer)
                except OSError:
                    asked = b""
                if not asked:
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
                is_h2 = connected.selected_alpn_protocol() == "h2"
                answers = http2.Answers().receive if is_h2 else messages.answer
                selector.register(connected, selectors.EVENT_READ, answers)
            else:
                return


def main() -> None:
    """Serve on any free port of loopback."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    if sys.argv[3:]:
        context.set_alpn_protocols(sys.argv[3:])
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        print(listener.getsockname()[1], flush=True)
        serve(context, listener)


if __name__ == "__main__":
    main()
