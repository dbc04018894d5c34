"""python -m tests.proxy.support.redirected_machine CA OUT: redirect a machine's traffic to a lane.

Run it in a new network namespace whose rules the caller may set. It prints the answers it gets.
"""

import socket
import sys
from pathlib import Path

from tests.proxy.support.lanes import configured
from tests.proxy.support.origin import served
from warex.linux import nftables, rtnetlink
from warex.proxy.process.client import start_proxy
from warex.proxy.process.forkserver import Forkserver

_SITES = (("192.0.2.7", 80), ("2001:db8::7", 80))


def main() -> None:
    ca, out = map(Path, sys.argv[1:])
    rtnetlink.create_device()
    rtnetlink.bring_up("lo")
    rtnetlink.bring_up_device()
    rtnetlink.add_address("192.0.2.2")
    rtnetlink.add_address("fd00:77::2")
    forkserver = Forkserver()
    with served() as origin:
        target = f"http://127.0.0.1:{origin.port}"
        maps = tuple(f"http://{it}={target}" for it in ("192.0.2.7", "[2001:db8::7]"))
        config = configured(ca=ca, out=out, capture="transparent", maps=maps)
        with start_proxy(forkserver, config) as proxy, nftables.open_socket() as rules:
            nftables.set_rules(rules, nftables.RedirectConfig(proxy.port, 9, ()))
            for site in _SITES:
                host = f"[{site[0]}]" if ":" in site[0] else site[0]
                asked = f"GET /a HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
                with socket.create_connection(site, timeout=10) as client:
                    client.sendall(asked.encode())
                    print(client.recv(15, socket.MSG_WAITALL).decode(), flush=True)
            try:
                with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as client:
                    client.sendall(b"GET /b HTTP/1.1\r\nHost: x\r\n\r\n")
                    print(client.recv(15))
            except ConnectionResetError:
                print("reset")
    forkserver.close()


if __name__ == "__main__":
    main()
