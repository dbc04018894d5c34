"""For every test: signals do what they usually do, whoever runs the tests and whatever ran before.

A shell has its jobs in the background ignore Ctrl-C, and a program hands down what it ignores. A
program of ours that a test runs in this process listens for its end and never stops listening.
"""

import signal
from collections.abc import Iterator

import pytest

for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
