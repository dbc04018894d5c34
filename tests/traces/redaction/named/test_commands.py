import pytest

from warex.traces.redaction.structured import redact_text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sshpass -p hush ssh host", "sshpass -p [redacted] ssh host"),
        ("mysql -u root -phush shop", "mysql -u root -p[redacted] shop"),
        ("curl -H 'X-Api-Key: hush' https://a", "curl -H 'X-Api-Key: [redacted]' https://a"),
        ("docker run -p 8080:80 nginx", "docker run -p 8080:80 nginx"),
    ],
)
def test_only_the_password_of_a_command_line_goes(before: str, after: str) -> None:
    assert redact_text(before) == after
