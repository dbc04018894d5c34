import pytest

from warex.traces.redaction.structured import redact_text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sshpass -p hush ssh host", "sshpass -p [redacted] ssh host"),
        ("mysql -u root -phush shop", "mysql -u root -p[redacted] shop"),
        ("curl -H 'X-Api-Key: hush' https://a", "curl -H 'X-Api-Key: [redacted]' https://a"),
        ("curl -ubob:meadow https://a", "curl -ubob:[redacted] https://a"),
        ('["curl","-ubob:meadow"]', '["curl","-ubob:[redacted]"]'),
        ('["mysql","-uroot","-pmeadow"]', '["mysql","-uroot","-p[redacted]"]'),
        ("docker run -p 8080:80 nginx", "docker run -p 8080:80 nginx"),
    ],
)
def test_only_the_password_of_a_command_line_goes(before: str, after: str) -> None:
    assert redact_text(before) == after


@pytest.mark.parametrize(
    "command",
    [
        "evil-winrm -i h -u bob -p 'otter42'",
        "tool -U bob -P otter42 status",
        "tool -w otter42 --user bob",
        "echo 'otter42' | kinit bob",
    ],
)
def test_short_password_options_and_piped_passwords_are_redacted(
    command: str,
) -> None:
    assert "otter42" not in redact_text(command)


@pytest.mark.parametrize(
    "command",
    [
        "docker run -u bob -p 8080:80 nginx",
        "grep -A 10 x file2.txt",
        "ps -u bob -p 4711",
        "tool -w page42 open",
    ],
)
def test_a_port_a_number_and_an_option_without_a_user_stay(command: str) -> None:
    assert redact_text(command) == command
