import pytest

from warex.llm.actions.base import Code, CodeCall
from warex.llm.actions.shell_commands import shell_calls

SHOP = "https://shop.example/"


@pytest.mark.parametrize(
    ("script", "calls"),
    [
        (f"agent-browser open {SHOP}", [("agent-browser.open", (SHOP,))]),
        (f"agent-browser --session s open {SHOP} --json", [("agent-browser.open", (SHOP,))]),
        (
            f"A=b timeout 30 npx -y agent-browser@latest open {SHOP}",
            [("agent-browser.open", (SHOP,))],
        ),
        (f"npx @playwright/cli@1.2 goto {SHOP}", [("playwright-cli.goto", (SHOP,))]),
        (f"uvx browser-use open {SHOP}", [("browser-use.open", (SHOP,))]),
        ("/usr/bin/agent-browser reload", [("agent-browser.reload", ())]),
        (
            "agent-browser find role button click --name Buy",
            [("agent-browser.click", ("button", "Buy"))],
        ),
        (
            f"agent-browser batch 'open {SHOP}' 'click @e1'",
            [("agent-browser.open", (SHOP,)), ("agent-browser.click", ("@e1",))],
        ),
        (f"agent-browser tab new {SHOP}", [("agent-browser.tab-new", (SHOP,))]),
        (f"curl -sSL -H 'A: b' {SHOP}", [("curl", (SHOP,))]),
        (f"curl {SHOP}a {SHOP}b", [("curl", (f"{SHOP}a",)), ("curl", (f"{SHOP}b",))]),
        ("curl shop.example/x", [("curl", ("shop.example/x",))]),
        ("curl -s $UNKNOWN", [("curl", ("$UNKNOWN",))]),
        (f"chromium --headless {SHOP}", [("chromium", (SHOP,))]),
        ("xdotool search --name x key --clearmodifiers F5", [("xdotool.key", ("F5",))]),
        ("sleep 5", [("sleep", ("5",))]),
        (
            'agent-browser open "$(agent-browser get url)"',
            [
                ("agent-browser.get", ("url",)),
                ("agent-browser.open", ("$(agent-browser get url)",)),
            ],
        ),
        ("open notes; ls -la; git fetch origin; docker stop x; sudo; env", []),
    ],
)
def test_what_a_command_does_is_read(script: str, calls: list[tuple[str, tuple[str, ...]]]) -> None:
    result = shell_calls(script)

    assert [(c.full_name, c.arguments) for c in result if isinstance(c, CodeCall)] == calls


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("python3 -c 'visit()'", Code("python", "visit()")),
        ("python - <<'E'\nvisit()\nE", Code("python", "visit()")),
        ("python3.12 <<E\nvisit()\nE", Code("python", "visit()")),
        ("uv run python -c 'visit()'", Code("python", "visit()")),
        ("cat > a.py <<E\nvisit()\nE\npython a.py", Code("python", "visit()")),
        ("node -e 'visit()'", Code("javascript", "visit()")),
        ("bash -lc 'curl x.example'", Code("shell", "curl x.example")),
        ("eval curl x.example", Code("shell", "curl x.example")),
        ("agent-browser eval 'location.reload()'", Code("javascript", "location.reload()")),
        ("python unknown.py", Code("python", "")),
    ],
)
def test_code_that_a_command_runs_is_found(script: str, code: Code) -> None:
    assert shell_calls(script)[-1] == code


def test_a_command_that_tries_again_by_itself_is_a_loop() -> None:
    (call,) = shell_calls(f"curl --retry 3 {SHOP}")

    assert call.context == "loop"
