"""Names of servers."""

import re

import pytest

from warex.lane.stdio.steps import NAME
from warex.sandbox.stdio.server_name import server_name


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx @playwright/mcp@latest --headless", "playwright-mcp"),
        ("npx -y @playwright/mcp", "playwright-mcp"),
        ("npx mcp-remote@1.2 https://x.test/?key=secret", "mcp-remote"),
        ("uvx mcp-server-time==1.0", "mcp-server-time"),
        ("python3.13 -m mcp_server_time --key secret", "mcp_server_time"),
        ("/usr/bin/node dist/server.js", "server"),
        ("node /x/node_modules/@playwright/mcp/cli.js --headless", "playwright-mcp"),
        ("node /x/node_modules/mcp-remote/dist/proxy.js", "mcp-remote"),
        ("/opt/tools/My_Server.exe --token secret", "my_server"),
        ("python", "python"),
        ("./ --x", "server"),
        ("服务", "server"),
    ],
)
def test_a_server_is_called_after_what_runs_and_not_its_arguments(command: str, name: str) -> None:
    assert server_name(command.split()) == name


@pytest.mark.parametrize(
    "command",
    [
        ["x" * 500],
        ["sh", "-c", "exec server --key secret"],
        ["npx", "@"],
        ["a.b.."],
        ["-"],
        ["npx", "@a/b/c"],
    ],
)
def test_every_name_can_be_a_host(command: list[str]) -> None:
    name = server_name(command)
    assert re.fullmatch(NAME, name)
    assert "secret" not in name
