from collections.abc import Callable
from pathlib import Path

import pytest

from tests.analysis.builders import WORDS, Story
from warex.analysis.recovery import Recovery, recoveries
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.reader import read_trace

type Judge = Callable[..., tuple[Recovery, ...]]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    def judge(story: Story, vocabulary: Vocabulary | None = WORDS) -> tuple[Recovery, ...]:
        trace = read_trace(story.write(tmp_path / "events.jsonl"))
        return recoveries(trace.entries, vocabulary)

    return judge
