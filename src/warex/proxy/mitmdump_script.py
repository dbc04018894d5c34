"""WAREX as an addon of stock mitmproxy: for mitmdump and mitmweb.

``warex addon`` prints a file for ``mitmdump -s FILE`` that imports ``addons`` from here. This is
mitmproxy's own proxy, without the engine's optimizations (inline hooks, few addons, a process for
each trial).
"""

import logging
from collections.abc import Sequence, Set
from contextlib import closing
from pathlib import Path
from typing import Any

from mitmproxy import addonmanager, ctx, exceptions

from warex.errors import WarexError
from warex.lane.config import ProxyConfig
from warex.proxy.addon import WarexAddon
from warex.proxy.engine import begin_trial
from warex.proxy.mitmproxy_patches import http1, http2, http_stream
from warex.scenarios.load import load_scenario

logger = logging.getLogger(__name__)

_OPTIONS = ("warex_scenario", "warex_seed", "warex_out", "warex_sites")


class Warex:
    """Declares the options and holds the addon of the current trial.

    A trial lasts from one change of the options to the next, or to mitmproxy's end.
    """

    def __init__(self) -> None:
        self.addons: list[WarexAddon] = []
        self._last_options: tuple[str, ...] | None = None
        self._at_start = True

    def load(self, loader: addonmanager.Loader) -> None:
        """Declare the options, and have mitmproxy use WAREX's layers."""
        http1.install()
        http2.install()
        http_stream.install()
        loader.add_option(
            "warex_scenario", str, "", "A preset or a scenario file; empty for no fault."
        )
        loader.add_option("warex_seed", int, 1, "Seed of the scenario's draws.")
        loader.add_option("warex_out", str, "", "Folder for events.jsonl; empty keeps no trace.")
        loader.add_option("warex_sites", Sequence[str], [], "Task sites, for {sites}.")
        # mitmproxy's views show the bodies that WAREX streams. The lazy strategy is needed since
        # WAREX's own hosts do not exist.
        ctx.options.update_known(store_streamed_bodies=True, connection_strategy="lazy")

    def configure(self, updated: Set[str]) -> None:
        """Begin a trial with the current options; raise OptionsError for an invalid one."""
        wanted = tuple(map(str, (getattr(ctx.options, name) for name in _OPTIONS)))
        # mitmproxy undoes a refused change by setting the old values again.
        if wanted == self._last_options or updated.isdisjoint(_OPTIONS):
            return
        at_start, self._at_start = self._at_start, False
        try:
            addon = _begin()
        except WarexError as error:
            if not at_start:
                raise exceptions.OptionsError(f"WAREX: {error}") from None
            # A logged error ends mitmproxy while it starts; an exception would show a traceback.
            logger.error("WAREX: %s", error)
            return
        self.done()
        self._last_options = wanted
        self.addons = [addon]
        ctx.master.addons.register(addon)

    def done(self) -> None:
        """End the trial: settle the open exchanges and end the trace."""
        self._last_options = None
        for addon in self.addons:
            try:
                with closing(addon.recorder):
                    addon.finish()
            except WarexError as error:
                logger.error("WAREX: %s", error)
            ctx.master.addons.lookup.pop("warexaddon", None)
        self.addons = []


def _begin() -> WarexAddon:
    options: Any = ctx.options
    scenario = load_scenario(options.warex_scenario) if options.warex_scenario else None
    config = ProxyConfig(
        ca=Path(options.confdir),
        out=Path(options.warex_out) if options.warex_out else None,
        scenario=scenario,
        seed=options.warex_seed,
        sites=tuple(options.warex_sites),
    )
    addon = begin_trial(config)
    addon.recorder.on_broken = lambda why: logger.error("WAREX: the trial is void: %s", why)
    addon.on_notice = lambda sentence: logger.warning("WAREX: %s", sentence)
    return addon


addons = [Warex()]
