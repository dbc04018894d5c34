"""gRPC: rpc.py serve CERTIFICATE KEY serves; rpc.py secure|insecure URL prints an answer."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import grpc

SECURE, INSECURE = 50051, 50052


def serve(certificate: str, key: str) -> None:
    def say(request: bytes, context: grpc.ServicerContext) -> bytes:
        context.set_trailing_metadata((("last-words", "of the site"),))
        return request.upper() * 1000

    method = grpc.unary_unary_rpc_method_handler(say)
    services = [
        grpc.method_handlers_generic_handler(name, {"Say": method}) for name in ("body", "failing")
    ]
    server = grpc.server(ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers(services)
    pair = (Path(key).read_bytes(), Path(certificate).read_bytes())
    server.add_secure_port(f"[::]:{SECURE}", grpc.ssl_server_credentials([pair]))
    server.add_insecure_port(f"[::]:{INSECURE}")
    server.start()
    print("ready", flush=True)
    sys.stdin.read()
    server.stop(None)


def ask(how: str, url: str) -> None:
    parts = urlsplit(url)
    if how == "secure":
        channel = grpc.secure_channel(f"{parts.hostname}:{SECURE}", grpc.ssl_channel_credentials())
    else:
        channel = grpc.insecure_channel(f"{parts.hostname}:{INSECURE}")
    with channel:
        call = channel.unary_unary(parts.path + "/Say")
        try:
            answer, ended = call.with_call(b"through", timeout=30)
            print(200, dict(ended.trailing_metadata())["last-words"].replace(" ", "-"))
            sys.stdout.write(answer.decode())
        except grpc.RpcError as error:
            if "status: 500" in error.details():
                print(500, "of-the-site")
                sys.stdout.write("failed")
            else:
                sys.exit(f"{error.code()}: {error.details()}")


if sys.argv[1] == "serve":
    serve(*sys.argv[2:])
else:
    ask(*sys.argv[1:])
