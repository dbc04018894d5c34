"""Ports of this machine's loopback are let through only when they are named."""

import socket
from pathlib import Path

import pytest

from warex.sandbox.namespace.host_ports import (
    direct_loopback_warnings,
    is_model_endpoint,
    loopback_ports_in,
    loopback_ports_in_environment,
    loopback_ports_in_files,
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
    assert loopback_ports_in(text) == ports


def test_variables_with_service_addresses_give_ports() -> None:
    environment = {
        "OPENAI_BASE_URL": "http://localhost:8000/v1",
        "OLLAMA_HOST": "127.0.0.1:11434",
        "AZURE_ENDPOINT": "https://model.example:443",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://localhost:4566",
        "EDITOR": "http://localhost:1",
    }

    assert loopback_ports_in_environment(environment) == {
        8000: "OPENAI_BASE_URL",
        11434: "OLLAMA_HOST",
        4566: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    }


def test_the_commands_own_files_name_ports_as_its_line_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text('SITE = "http://localhost:7770/"\n')
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:8000/v1\n")
    (tmp_path / "model.bin").write_bytes(b"\0http://localhost:1/")
    (tmp_path / "long.log").write_text("http://localhost:2/\n" + "x" * (1 << 18))
    (tmp_path / "folder").mkdir()

    words = ["python", "agent.py", "model.bin", "long.log", "folder", "none", "/dev/zero", "a\0b"]
    assert loopback_ports_in_files(words) == {7770: "agent.py", 8000: ".env"}


@pytest.mark.parametrize(
    ("variable", "is_one"),
    [
        ("GOOGLE_GEMINI_BASE_URL", True),
        ("OPENAI_API_BASE", True),
        ("OLLAMA_HOST", True),
        ("AZURE_OPENAI_ENDPOINT", True),
        ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", True),
        ("AWS_ENDPOINT_URL_S3", False),
        ("DATABASE_URL", False),
        ("PGHOST", False),
    ],
)
def test_variables_by_which_clients_find_a_model_are_known(variable: str, is_one: bool) -> None:
    assert is_model_endpoint(variable) is is_one


@pytest.mark.wire
def test_what_a_program_asks_past_the_proxy_is_reported_if_it_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        url = f"http://localhost:{port}"

        (by_name,) = direct_loopback_warnings(
            ["agent"], {"ANTHROPIC_BASE_URL": url, "DATABASE_URL": "localhost:9"}
        )
        (in_line,) = direct_loopback_warnings(["agent", "--base-url", url], {})
        assert list(direct_loopback_warnings(["agent"], {"DATABASE_URL": url})) == []
    assert by_name.startswith(f"ANTHROPIC_BASE_URL names port {port}")
    assert in_line.startswith(f"the command line names port {port}")
    assert list(direct_loopback_warnings(["agent"], {"ANTHROPIC_BASE_URL": url})) == []


@pytest.mark.timeout(10)
def test_a_long_argument_takes_no_time() -> None:
    assert loopback_ports_in("a" * 100_000 + " app.localhost:8000") == {8000}
