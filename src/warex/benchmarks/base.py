"""The base class of adapters: what WAREX does with what an adapter provides.

It is made from the campaign's table. What an adapter implements is in ``interface``.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warex.benchmarks.installation.virtualenv import Virtualenv, find_virtualenv
from warex.benchmarks.interface import Adapter
from warex.benchmarks.job import AgentSpec
from warex.benchmarks.table import BenchmarkConfig
from warex.errors import CampaignError, MachineError
from warex.sandbox.chromium import find_chromium
from warex.sandbox.doctor.finding import Finding
from warex.scenarios import Arm, Scenario
from warex.scenarios.mistakes import format_errors, unknown_name, validate_document
from warex.traces import NO_PROXY
from warex.traffic import read_origin

_DRIVERS = Path(__file__).with_name("adapters") / "drivers"
_EXAMPLES = Path(__file__).with_name("examples")
_EXAMPLE = """\
benchmark = "{name}"
[[agents]]
name = "my-agent"
[[conditions]]
name = "clean"
[[conditions]]
name = "server-error"
scenario = "paper/server-error"
"""
"""That of a benchmark from another package."""


def no_proxy_refused(why: str, other_remedy: str = "") -> CampaignError:
    """Return the error for a campaign whose trials cannot run without the proxy."""
    return CampaignError(f"condition {NO_PROXY!r}: {why}; leave the condition out{other_remedy}")


class Benchmark(Adapter):
    """An adapter with a campaign's table."""

    def __init__(self, table: BenchmarkConfig | None = None) -> None:
        """Take the campaign's table; raise CampaignError if it is invalid."""
        self.table = table or BenchmarkConfig(name=self.name)
        options, mistakes = validate_document(self.options_model, self.table.options)
        if options is None:
            raise CampaignError(format_errors("benchmark.options", mistakes))
        self.options = options
        if self.recipe is None and self.table.dir is not None:
            raise CampaignError(
                f"benchmark.dir: the benchmark {self.name!r} has no environment of its own; leave"
                " the key out"
            )
        for site, target in self.table.sites.items():
            self._check_site(site, target)

    @classmethod
    def example(cls) -> str:
        """Return a campaign file to copy; a benchmark with options of its own shows them."""
        path = _EXAMPLES.joinpath(f"{cls.name}.toml")
        return path.read_text("utf-8") if path.is_file() else _EXAMPLE.format(name=cls.name)

    def arm(self, scenario: Scenario, task: str) -> Arm:
        """Return when faults begin: as the scenario says, else as the adapter does."""
        return scenario.arm or self.default_arm(scenario, task)

    def validate(
        self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool = False
    ) -> None:
        """Raise CampaignError or MachineError, before anything runs, for what cannot run."""
        if self.recipe is not None:
            self.virtualenv()
        for agent in agents:
            self._check_endpoint(agent)
            self._check_observation(agent)
        if direct and (why := self.needs_proxy()):
            raise no_proxy_refused(why)
        self.check(tasks, agents, direct=direct)

    def require_keys(self, agents: Sequence[AgentSpec], environment: Mapping[str, str]) -> None:
        """Raise MachineError for a model behind an API whose key is not set.

        Harnesses retry for minutes and then report another error.
        """
        enough = (*self.api_key_variables, self.base_url_variable or "")
        if not self.api_key_variables or any(map(environment.get, enough)):
            return
        for agent in agents:
            if agent.base_url is None and not agent.is_mock:
                raise MachineError(
                    f"agent {agent.name!r}: its model {agent.model!r} is behind an API, whose key"
                    f" is not set: set {' or '.join(self.api_key_variables)}, or give a base_url"
                )

    def diagnose(self) -> Iterator[Finding]:
        """Yield findings about its requirements, for ``warex doctor``."""
        if self.recipe is not None:
            virtualenv = find_virtualenv(self.name, self.recipe, self.table.installation_dir)
            yield Finding("environment", virtualenv[1], virtualenv[2])
        try:
            yield Finding("browser", "ok", str(self.find_browser()))
        except MachineError as error:
            yield Finding("browser", "missing", str(error))
        if self.api_key_variables:
            yield _keys(self.api_key_variables)
        yield from self.findings()

    def find_browser(self) -> Path:
        """Return the browser for its trials; raise MachineError if there is none."""
        return find_chromium(headless_shell=self.headless)

    def virtualenv(self) -> Virtualenv:
        """Return the benchmark's own environment.

        Raises CampaignError if the table names none, MachineError if it does not exist.
        """
        if self.recipe is None:
            raise CampaignError(f"the benchmark {self.name!r} has no environment of its own")
        made, state, sentence = find_virtualenv(self.name, self.recipe, self.table.installation_dir)
        if self.table.installation_dir is None:
            raise CampaignError(sentence)
        if made is None or state != "ok":
            raise MachineError(sentence)
        return made

    def driver_command(
        self, program: str, config: Mapping[str, Any], file: Path | None = None
    ) -> list[str]:
        """Return the command of a program in ``adapters/drivers``, run by the benchmark's Python.

        Its argument is the configuration as JSON, or ``file``, to which the JSON is written.
        """
        argument = json.dumps(config)
        if file is not None:
            file.write_text(json.dumps(config, indent=1), "utf-8")
            argument = str(file.absolute())
        return [str(self.virtualenv().python), str(_DRIVERS / program), argument]

    def endpoint_variables(self, agent: AgentSpec) -> dict[str, str]:
        """Return the variable that names the agent's endpoint, if it has one."""
        if self.base_url_variable is None or agent.base_url is None:
            return {}
        return {self.base_url_variable: agent.base_url}

    def _check_site(self, site: str, target: str) -> None:
        known = self.site_names
        if known is None:
            try:
                for origin in (site, target):
                    read_origin(origin)
            except ValueError as error:
                raise CampaignError(f"benchmark.sites: {error}") from None
        elif site not in known:
            unknown = unknown_name("there is no site", site, known)
            none = f"there is no site {site!r}; {self.name} takes none"
            raise CampaignError(f"benchmark.sites: {unknown if known else none}")
        if not _is_url(target):
            raise CampaignError(
                f"benchmark.sites.{site}: {target!r} is not a URL; write for instance"
                " http://127.0.0.1:7770"
            )

    def _check_observation(self, agent: AgentSpec) -> None:
        if agent.observation is None or frozenset(agent.observation) in self.observations:
            return
        chosen = f"agent {agent.name!r}: observation = [{', '.join(agent.observation)}]"
        if not self.observations:
            raise CampaignError(
                f"{chosen}: what {self.name} shows its model cannot be chosen so; leave the key out"
            )
        allowed = " or ".join(f"[{', '.join(sorted(each))}]" for each in self.observations)
        raise CampaignError(f"{chosen}: {self.name} can show its model {allowed}")

    def _check_endpoint(self, agent: AgentSpec) -> None:
        if agent.base_url is None:
            return
        for endpoint in self.endpoints(agent):
            wanted, actual = urlsplit(endpoint).path, urlsplit(agent.base_url).path
            if wanted.rstrip("/") != actual.rstrip("/"):
                right = f"{urlsplit(agent.base_url)._replace(path=wanted, query='').geturl()!r}"
                raise CampaignError(
                    f"agent {agent.name!r}: {self.name} always calls {endpoint}, and the proxy"
                    f" can put another host in its place, but no other path: the path of base_url"
                    f" must be {wanted}, as in {right}, and it is {agent.base_url!r}"
                )


def _keys(variables: Sequence[str]) -> Finding:
    if present := [name for name in variables if os.environ.get(name)]:
        return Finding("keys", "ok", f"{', '.join(present)} set", needed=False)
    lacks = (
        f"none of {', '.join(variables)} is set: a model behind an API wants one; a playbook and an"
        " endpoint of your own do not"
    )
    return Finding("keys", "missing", lacks, needed=False)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
