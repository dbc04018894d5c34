"""A parser of Dockerfiles, so that tests need no container engine."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "docker" / "Dockerfile"


@dataclass(frozen=True)
class Instruction:
    word: str
    rest: str

    @property
    def words(self) -> list[str]:
        """The arguments, in shell form or in exec form."""
        if self.rest.startswith("["):
            return [str(word) for word in json.loads(self.rest)]
        return self.rest.split()


def stages(text: str) -> list[list[Instruction]]:
    """Return the instructions of each stage, starting with FROM; earlier ones are dropped."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    results: list[list[Instruction]] = []
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if not line.strip():
            continue
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            results.append([])
        if results:
            results[-1].append(Instruction(word, " ".join(rest.split())))
    return results


def build_and_image() -> tuple[list[Instruction], list[Instruction]]:
    build, image = stages(DOCKERFILE.read_text(encoding="utf-8"))
    return build, image


def only(word: str, instructions: list[Instruction]) -> Instruction:
    (results,) = (each for each in instructions if each.word == word)
    return results
