"""For every test: signals end what the tests start, whoever runs them.

A shell has its jobs in the background ignore Ctrl-C, and a program hands down what it ignores.
"""

import signal

for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)
