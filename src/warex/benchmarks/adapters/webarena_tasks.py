"""WebArena's tasks, sites and judges, on which its own agent and SteP run."""

import json
import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from warex.benchmarks.checkout import CheckoutBenchmark, describe_path
from warex.benchmarks.installation.playwright_browsers import browsers_for
from warex.benchmarks.job import AgentSpec, Job
from warex.errors import CampaignError
from warex.files.reading import read_regular_file
from warex.traffic import origin_of

SITES: Mapping[str, str] = {
    "shopping": "SHOPPING",
    "shopping_admin": "SHOPPING_ADMIN",
    "reddit": "REDDIT",
    "gitlab": "GITLAB",
    "wikipedia": "WIKIPEDIA",
    "map": "MAP",
    "homepage": "HOMEPAGE",
}
"""WebArena's sites, each with the variable of its address."""

PACKAGES = (
    *("playwright", "gymnasium", "Pillow", "openai", "tiktoken", "aiolimiter"),
    *("beartype", "flask", "nltk", "requests", "numpy", "tqdm", "setuptools"),
    *("text-generation", "transformers", "huggingface-hub"),
)
"""What WebArena needs. litellm, too: it contains the files that tiktoken would download."""

_NLTK = "nltk_data"
_PUNKT = ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt")

SUPPORT: Mapping[str, str] = {f"{_NLTK}/tokenizers/punkt_tab/english/{name}": "" for name in _PUNKT}
"""Empty tables in place of a download; with them NLTK splits words but knows no abbreviations."""

TASKS = "config_files/test.raw.json"
"""All tasks, with placeholders for the addresses; a path in a checkout."""

_JUDGE = {"module": "evaluation_harness.evaluators", "function": "evaluator_router"}


class WebArenaTasks(CheckoutBenchmark):
    """A harness on WebArena's tasks."""

    observations: ClassVar = (frozenset({"axtree"}),)
    # The judges use the shop's REST interface.
    judge_user_agents = ("python-requests",)
    api_key_variables = ("OPENAI_API_KEY",)
    base_url_variable = "OPENAI_API_BASE"
    webarena_option: ClassVar[str] = "checkout"
    """The option that names WebArena's checkout."""

    @abstractmethod
    def address(self, site: str) -> str:
        """Return a site's address for the harness."""

    @cached_property
    def webarena(self) -> Path:
        """The folder of WebArena's checkout."""
        return self.table.path(getattr(self.options, self.webarena_option))

    def tasks(self) -> tuple[str, ...]:
        """Return the numbers of all tasks."""
        return tuple(self.raw_tasks)

    @cached_property
    def raw_tasks(self) -> Mapping[str, dict[str, Any]]:
        """WebArena's tasks by number; raises CampaignError if the checkout holds none."""
        path = self.webarena / TASKS
        where = f"benchmark.options.{self.webarena_option}: {path} holds no tasks of WebArena"
        wanted = "give the folder of its checkout"
        try:
            tasks = {str(task["task_id"]): task for task in json.loads(read_regular_file(path))}
        except (OSError, ValueError, LookupError, TypeError) as error:
            why = error.strerror if isinstance(error, OSError) else repr(error)
            description = f"{self.webarena}: {describe_path(self.webarena)}"
            raise CampaignError(f"{where} ({why}); {description}; {wanted}") from None
        if not tasks:
            raise CampaignError(f"{where} (its list is empty); {wanted}")
        return tasks

    def sites(self, task: str) -> tuple[str, ...]:
        """Return the origins of the task's sites."""
        return tuple(origin_of(self.address(site)) for site in self.site_names_of(task))

    def site_names_of(self, task: str) -> tuple[str, ...]:
        """Return WebArena's names of the sites that the task needs."""
        return tuple(self.raw_tasks[task]["sites"])

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:
        """Raise CampaignError for an invalid checkout, or a task's site without an address."""
        super().check(tasks, agents, direct=direct)
        for task in tasks:
            for site in self.site_names_of(task):
                if site not in self.table.sites:
                    raise CampaignError(
                        f"benchmark.sites: {self.name}'s task {task} is done on {site!r}; say where"
                        f' your copy is: sites = {{ {site} = "http://host:port" }}'
                    )

    def write_task(self, folder: Path, task: str, sites: Iterable[str]) -> None:
        """Write a task's file, its placeholders replaced by the sites' addresses."""
        text = json.dumps(self.raw_tasks[task])
        for site in sites:
            text = text.replace(f"__{SITES[site]}__", json.dumps(self.address(site))[1:-1])
        folder.mkdir(parents=True)
        (folder / f"{task}.json").write_text(text, "utf-8")

    def judged_command(self, script: str, arguments: Sequence[str]) -> list[str]:
        """Return the command of a script of the checkout that judges by WebArena's evaluators.

        They open pages in the agent's browser, so the driver first reports that the agent has
        ended.
        """
        path = str(self.checkout / script)
        config = {"script": path, "arguments": list(arguments), "judge": _JUDGE}
        return self.driver_command("judged_script.py", config)

    def harness_variables(self, job: Job) -> dict[str, str]:
        """Return the variables of the browser, the model, and tiktoken's and NLTK's data.

        The user's own variables of the data take precedence.
        """
        made = self.virtualenv()
        data = {
            "TIKTOKEN_CACHE_DIR": made.site_packages / "litellm/litellm_core_utils/tokenizers",
            "NLTK_DATA": made.folder / _NLTK,
        }
        return {
            **{name: os.environ.get(name) or str(path) for name, path in data.items()},
            **browsers_for(made, job.scratch / "browsers", job.browser, job.browser_arguments),
            **made.variables,
            **self.endpoint_variables(job.agent),
        }
