from types import SimpleNamespace
from typing import cast

from mitmproxy.test import taddons, tflow

from warex.lane.lane import Lane
from warex.mitmproxy_addon.hooks import Hooks, fail_closed


class Broken(Hooks):
    @fail_closed
    def now(self, data: object) -> None:
        raise ValueError("now")

    @fail_closed
    async def later(self, data: object) -> None:
        raise ValueError("later")


async def test_a_hook_that_raises_voids_the_trial_and_cuts_the_exchange() -> None:
    reasons: list[str] = []
    lane = SimpleNamespace(broke=lambda error: reasons.append(str(error)))
    hooks = Broken(cast(Lane, lane))
    with taddons.context():
        flows = [tflow.tflow(), tflow.tflow()]
        for flow in flows:
            flow.live = True
        assert hooks.now(flows[0]) is None
        waiting = hooks.later(flows[1])
        assert waiting is not None
        await waiting

    assert reasons == ["now", "later"]
    assert [flow.error is not None and flow.error.msg for flow in flows] == [
        "Connection killed."
    ] * 2
