"""`warex addon`: WAREX as a plug-in of stock mitmproxy."""

from pathlib import Path

import click

import warex
from warex.cli.output import echo

_SHIM = '''\
"""WAREX for stock mitmproxy: mitmdump -s FILE --set warex_scenario=S

Other options: warex_seed=N, warex_out=DIR (events.jsonl), warex_sites=ORIGIN.
"""

import sys

sys.path.append({path!r})

from warex.mitmproxy_addon.script import addons  # noqa: E402, F401
'''


@click.command("addon")
def command() -> None:
    """Print an addon file for mitmdump, mitmweb or mitmproxy.

    \b
    warex addon > warex_addon.py
    mitmdump -s warex_addon.py --set warex_scenario=paper/server-error

    That mitmproxy must run in WAREX's environment (the extra `warex[mitmproxy]`), or have
    WAREX's dependencies.
    """
    # The path of this WAREX, for a mitmproxy in another environment.
    echo(_SHIM.format(path=str(Path(warex.__file__).parents[1])).rstrip())
