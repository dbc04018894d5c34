"""Ways past the proxy are named before the command starts, and nothing else is."""

import socket
from pathlib import Path

import pytest

from warex.sandbox import bypass_warnings as module
from warex.sandbox.bypass_warnings import bypass_warnings


@pytest.fixture(autouse=True)
def no_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine's own daemons are left out."""
    monkeypatch.setattr(module, "_ENGINES", ())


@pytest.mark.wire
def test_a_daemon_that_can_be_reached_is_named(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(tmp_path / "docker.sock"))

        (by_place,) = bypass_warnings(["agent"], {"XDG_RUNTIME_DIR": str(tmp_path)})
        (by_name,) = bypass_warnings(["agent"], {"DOCKER_HOST": f"unix://{tmp_path}/docker.sock"})

    assert f"Docker at {tmp_path}/docker.sock" in by_place
    assert "DOCKER_HOST=unix://" in by_name
    assert "not behind WAREX" in by_place


def test_a_daemon_that_does_not_run_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "docker.sock").touch()
    environment = {"XDG_RUNTIME_DIR": str(tmp_path), "DOCKER_HOST": "tcp://10.0.0.1:2375"}

    assert bypass_warnings(["agent"], environment) == []


@pytest.mark.parametrize(
    ("arguments", "environment", "named"),
    [
        ([], {"SELENIUM_REMOTE_URL": "http://grid.test:4444/wd/hub"}, "SELENIUM_REMOTE_URL"),
        ([], {"BROWSER_WS_ENDPOINT": "wss://farm.test/?token=secret"}, "wss://farm.test"),
        (["--cdp-url=http://10.0.0.9:9222"], {}, "http://10.0.0.9"),
        (["-e", "connectOverCDP('wss://connect.browserbase.com?apiKey=k')"], {}, "browserbase"),
        (["ws://10.0.0.9:9222/devtools/browser/1f"], {}, "ws://10.0.0.9"),
        ([], {"BROWSER_WS_ENDPOINT": "ws://[2001:db8::9]:9222/"}, "ws://[2001:db8::9]"),
    ],
)
def test_a_browser_that_runs_elsewhere_is_named_without_its_key(
    arguments: list[str], environment: dict[str, str], named: str
) -> None:
    (sentence,) = bypass_warnings(["agent", *arguments], environment)

    assert named in sentence
    assert "secret" not in sentence
    assert "apiKey" not in sentence


def test_ordinary_commands_are_not_warned_of() -> None:
    arguments = ["curl", "https://shop.example/", "wss://shop.example/live", "--url=https://a.test"]

    assert bypass_warnings(arguments, {"OPENAI_BASE_URL": "https://api.openai.com/v1"}) == []
