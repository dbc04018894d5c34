"""Which connections are read, and the hosts to which requests are mapped."""

from typing import Final, Literal

from warex.lane.config import ProxyConfig
from warex.lane.hosts.own_hosts import RESERVED_HOSTS
from warex.llm.recognition.hosts import host_matches, is_known_llm_host
from warex.scenarios import Injector, Rule
from warex.scenarios.matching.url_patterns import may_concern_host
from warex.text.latest import Latest
from warex.traffic import BACKGROUND_HOSTS, HostMap

_REMEMBERED: Final = 1024
"""Hosts."""

CANARY_HEADERS = {"content-type": "text/html", "cache-control": "no-store"}


def canary_page(nonce: str) -> str:
    """Return the canary's page; its icon is inline, so that a browser requests none."""
    head = '<!doctype html><title>canary</title><link rel="icon" href="data:,">'
    return f"{head}<p>{nonce.encode().hex()}</p>"


type PassthroughReason = Literal["pass_through", "background", "not_concerned", "tls_rejected"]


class HostRouting:
    """Decides for each host whether its connections are read."""

    def __init__(self, config: ProxyConfig, injector: Injector) -> None:
        self._sites = config.sites
        self._traffic = config.traffic
        self._injector = injector
        self._has_llm_cache = config.llm_cache is not None
        self._rejected: set[str] = set()
        self._rules: tuple[Rule, ...] = ()
        self._without_site = Latest[str, bool](_REMEMBERED)
        """Hosts for which it is known whether these rules work without their site."""
        self._maps = {(it.origin, it.origin_port): it for it in config.traffic.host_maps}

    def passthrough_reason(self, host: str) -> PassthroughReason | None:
        """Return why a host's connections are passed through; None if they are read."""
        host = host.lower()
        if host in RESERVED_HOSTS:
            return None
        if host in self._rejected:
            return "tls_rejected"
        if any(host_matches(pattern, host) for pattern in self._traffic.pass_through):
            return "pass_through"
        if host in BACKGROUND_HOSTS:
            return "background"
        if self._traffic.record == "concerned" and not self._is_concerned(host):
            return "not_concerned"
        return None

    def note_rejected(self, host: str) -> None:
        """Note that a client refused our certificate for this host."""
        self._rejected.add(host.lower())

    def map_target(self, host: str, port: int) -> HostMap | None:
        """Return the host to which requests for this origin are mapped, if any."""
        return self._maps.get((host.lower(), port))

    def works_without_site(self, host: str) -> bool:
        """Whether a request to a host may be answered or cut though its site is down.

        By a rule, or by an earlier answer of a model. ``host``: empty if it is not known yet.
        """
        if self._has_llm_cache:
            return True
        rules = self._injector.rules
        if rules is not self._rules:
            self._rules = rules
            self._without_site.clear()
        works = self._without_site.get(host)
        if works is None:
            works = self._without_site[host] = any(
                not host or may_concern_host(rule.match, host, self._sites)
                for rule in rules
                if rule.fault.works_without_site
            )
        return works

    def _is_concerned(self, host: str) -> bool:
        return (
            is_known_llm_host(host)
            or any(host_matches(pattern, host) for pattern in self._traffic.all_llm_hosts)
            or any(may_concern_host(rule.match, host, self._sites) for rule in self._injector.rules)
        )
