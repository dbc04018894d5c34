"""What ``warex addon`` prints imports this: the options, and the trial that they begin."""

import logging
from collections.abc import Sequence, Set
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from mitmproxy import addonmanager, ctx, exceptions, tls

from warex.errors import WarexError
from warex.lane.config import ProxyConfig
from warex.lane.lane import Lane
from warex.lane.record.beginning import begin_record
from warex.mitmproxy_addon.exchanges import ExchangeHooks
from warex.mitmproxy_addon.refusals import require_possible
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios.load import load_scenario

logger = logging.getLogger(__name__)

_OPTIONS: Final = ("warex_scenario", "warex_seed", "warex_out", "warex_sites")
_VERSIONS: Final = {name: version(name) for name in ("warex", "mitmproxy")}


class ClientHellos:
    """The one hook that must come last.

    mitmproxy's own addon decides there as well whether the site is connected to first, and a
    script's hooks come before it.
    """

    name = "warex_client_hellos"

    def __init__(self, trials: Sequence[ExchangeHooks]) -> None:
        """``trials``: the hooks of the current trial."""
        self._trials = trials

    async def tls_clienthello(self, data: tls.ClientHelloData) -> None:
        """Decide what happens to a connection that begins TLS."""
        for hooks in self._trials:
            if (waiting := hooks.client_hello(data)) is not None:
                await waiting


class Warex:
    """Declares the options and holds the hooks of the current trial.

    A trial lasts from one change of the options to the next, or to mitmproxy's end.
    """

    def __init__(self) -> None:
        self.addons: list[ExchangeHooks] = []
        """mitmproxy calls their hooks after this one's."""
        self._client_hellos = ClientHellos(self.addons)
        self._last_options: tuple[str, ...] | None = None
        self._at_start = True

    def load(self, loader: addonmanager.Loader) -> None:
        """Declare the options."""
        loader.add_option(
            "warex_scenario", str, "", "A preset or a scenario file; empty for no fault."
        )
        loader.add_option("warex_seed", int, 1, "Seed of the scenario's draws.")
        loader.add_option("warex_out", str, "", "Folder for events.jsonl; empty keeps no trace.")
        loader.add_option("warex_sites", Sequence[str], [], "Task sites, for {sites}.")
        # mitmproxy's views show the bodies that WAREX streams. The lazy strategy is needed since
        # WAREX's own hosts do not exist.
        ctx.options.update_known(store_streamed_bodies=True, connection_strategy="lazy")
        ctx.master.addons.add(self._client_hellos)

    def configure(self, updated: Set[str]) -> None:
        """Begin a trial with the current options; raise OptionsError for an invalid one."""
        wanted = tuple(map(str, (getattr(ctx.options, name) for name in _OPTIONS)))
        # mitmproxy undoes a refused change by setting the old values again.
        if wanted == self._last_options or updated.isdisjoint(_OPTIONS):
            return
        at_start, self._at_start = self._at_start, False
        try:
            hooks = _begin()
        except WarexError as error:
            if not at_start:
                raise exceptions.OptionsError(f"WAREX: {error}") from None
            # A logged error ends mitmproxy while it starts; an exception would show a traceback.
            logger.error("WAREX: %s", error)
            return
        self._end()
        self._last_options = wanted
        self.addons.append(hooks)

    def done(self) -> None:
        """End the trial: settle the open exchanges and end the trace."""
        self._end()
        if self._client_hellos in ctx.master.addons:
            ctx.master.addons.remove(self._client_hellos)

    def _end(self) -> None:
        self._last_options = None
        for hooks in self.addons:
            try:
                with closing(hooks.lane.recorder):
                    hooks.finish()
            except WarexError as error:
                logger.error("WAREX: %s", error)
        self.addons.clear()


def _begin() -> ExchangeHooks:
    options: Any = ctx.options
    scenario = load_scenario(options.warex_scenario) if options.warex_scenario else None
    config = ProxyConfig(
        ca=Path(options.confdir),
        out=Path(options.warex_out) if options.warex_out else None,
        scenario=scenario,
        seed=options.warex_seed,
        sites=tuple(options.warex_sites),
    )
    require_possible(() if scenario is None else scenario.rules)
    injector, recorder = begin_record(config, _VERSIONS)
    lane = Lane(config, injector, recorder, CertificateAuthority(config.ca))
    recorder.on_broken = lambda why: logger.error("WAREX: the trial is void: %s", why)
    lane.on_notice = lambda sentence: logger.warning("WAREX: %s", sentence)
    return ExchangeHooks(lane)


addons = [Warex()]
