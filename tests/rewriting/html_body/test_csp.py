"""What a policy must say afterwards; tests/browser asks a real browser whether that is so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.rewriting.html_body.csp import allow_script, forbids_dialogs, script_hash

SCRIPT = "run()"
HASH = script_hash(SCRIPT)
HERE = "https://shop.test/9f2c"


def test_a_hash_is_that_of_the_scripts_text() -> None:
    # By openssl.
    assert script_hash("alert('Hello, world.');") == (
        "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
    )


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ("script-src 'self'", f"script-src 'self' {HASH}"),
        (
            "script-src 'nonce-abc' 'strict-dynamic'",
            f"script-src 'nonce-abc' 'strict-dynamic' {HASH}",
        ),
        ("script-src 'none'", f"script-src {HASH}"),
        ("script-src", f"script-src {HASH}"),
        ("SCRIPT-SRC a.test; img-src *", f"script-src a.test {HASH}; img-src *"),
        (
            "script-src 'self'; script-src-elem b.test",
            f"script-src 'self'; script-src-elem b.test {HASH}",
        ),
        (
            "script-src 'unsafe-inline' 'nonce-abc'",
            f"script-src 'unsafe-inline' 'nonce-abc' {HASH}",
        ),
        (
            "default-src a.test",
            f"default-src a.test; script-src a.test {HASH}; connect-src a.test {HERE}",
        ),
        (
            "default-src 'none'",
            f"default-src 'none'; script-src {HASH}; connect-src {HERE}",
        ),
        ("connect-src api.test", f"connect-src api.test {HERE}"),
        (
            "script-src a.test, connect-src b.test",
            f"script-src a.test {HASH},connect-src b.test {HERE}",
        ),
        ("script-src a.test; script-src b.test", f"script-src a.test {HASH}; script-src b.test"),
    ],
)
def test_what_a_policy_keeps_out_is_let_in_and_no_more(policy: str, wanted: str) -> None:
    assert [it.strip() for it in allow_script(policy, SCRIPT, HERE).split(",")] == [
        it.strip() for it in wanted.split(",")
    ]


@pytest.mark.parametrize(
    "policy",
    [
        "",
        "upgrade-insecure-requests",
        "script-src 'unsafe-inline'",
        "script-src 'self' 'unsafe-inline'; connect-src 'self'",
        "default-src * 'unsafe-inline'",
        "frame-ancestors 'none'; img-src 'self'",
    ],
)
def test_what_lets_it_in_already_stays_as_it_is(policy: str) -> None:
    assert allow_script(policy, SCRIPT, HERE) == policy


@given(st.text("abc-src'default*,; \t\x00é"))
def test_a_policy_is_relaxed_once(policy: str) -> None:
    once = allow_script(policy, SCRIPT, HERE)

    assert allow_script(once, SCRIPT, HERE).count(HASH) == once.count(HASH)


@pytest.mark.parametrize(
    ("policy", "forbidden"),
    [
        ("", False),
        ("default-src 'self'", False),
        ("sandbox", True),
        ("default-src 'self'; Sandbox allow-scripts", True),
        ("default-src 'self', sandbox allow-scripts", True),
        ("sandbox allow-scripts allow-modals", False),
    ],
)
def test_a_sandbox_forbids_dialogs_unless_it_says_otherwise(policy: str, forbidden: bool) -> None:
    assert forbids_dialogs(policy) is forbidden
