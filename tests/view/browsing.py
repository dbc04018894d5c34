"""The viewer's server, and pages of a real browser that ask it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from playwright.sync_api import Browser, Page

from warex.view.documents import Documents
from warex.view.server import application

TOKEN = "secret"


@contextmanager
def serving(*runs: Path, follow: bool = False) -> Iterator[str]:
    """Serve runs as `warex view` does; yield the address."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    served = application(Documents(runs, follow=follow), TOKEN, port)
    server = uvicorn.Server(uvicorn.Config(served, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{port}/{TOKEN}/"
    server.should_exit = True
    thread.join()


def open_page(browser: Browser, address: str, width: int = 1300, scheme: str = "light") -> Page:
    page = browser.new_page(
        viewport={"width": width, "height": 850},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    page.goto(address)
    return page
