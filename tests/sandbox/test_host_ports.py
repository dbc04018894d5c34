"""Ports of this machine's loopback are let through when somebody names them, and only then."""

import socket
import time
from pathlib import Path

import pytest

from warex.sandbox.host_ports import (
    listening,
    named_by_environment,
    named_in,
)


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("http://localhost:8000/v1", {8000}),
        ('url: "http://127.0.0.1:7770/*"', {7770}),
        ("ws://[::1]:9222/devtools", {9222}),
        ("http://shop.localhost:3000", {3000}),
        ("http://LOCALHOST:80 and http://127.0.1.1:81", {80, 81}),
        ("https://shop.example:8443/", set()),
        ("https://notlocalhost.example:1/", set()),
        ("http://localhost/", set()),
        ("http://localhost:99999/", set()),
        ("", set()),
    ],
)
def test_a_loopback_address_with_a_port_names_it(text: str, ports: set[int]) -> None:
    assert named_in(text) == ports


def test_variables_that_tell_where_a_service_is_name_its_port() -> None:
    environment = {
        "OPENAI_BASE_URL": "http://localhost:8000/v1",
        "OLLAMA_HOST": "127.0.0.1:11434",
        "AZURE_ENDPOINT": "https://model.example:443",
        "EDITOR": "http://localhost:1",
    }

    assert named_by_environment(environment) == {8000: "OPENAI_BASE_URL", 11434: "OLLAMA_HOST"}


@pytest.mark.wire
def test_it_is_known_on_which_ports_this_machine_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        assert port in listening()
    assert port not in listening()


def test_a_machine_that_does_not_tell_listens_nowhere() -> None:
    assert listening([Path("/no/such/table")]) == set()


def test_a_long_argument_takes_no_time() -> None:
    began = time.process_time()

    assert named_in("a" * 100_000 + " app.localhost:8000") == {8000}

    assert time.process_time() - began < 1
