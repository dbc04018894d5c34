import re
from pathlib import Path
from typing import get_args

from tests.cases import every
from tests.faults.calls import CALLS, answered, each_call
from warex.faults.llm.llm_error import LlmError
from warex.llm.base import ApiErrorKind
from warex.llm.exchange import LlmExchange


@each_call
@every("error", get_args(ApiErrorKind.__value__))
def test_a_call_is_refused_in_its_apis_own_words(call: LlmExchange, error: ApiErrorKind) -> None:
    reply, answer = answered(LlmError(error=error), call)

    if reply.status == 200:
        # Gemini blocks a prompt in an answer of its usual form.
        assert (error, answer.finish) == ("content_filtered", "content_filter")
        return
    assert reply.status >= 400
    assert answer.finish == "error"
    assert (answer.error or "").startswith(f"HTTP {reply.status}: ")


@each_call
def test_only_rate_limit_errors_have_a_waiting_time(call: LlmExchange) -> None:
    limited, _ = answered(LlmError(error="rate_limited", wait=7), call)
    broken, _ = answered(LlmError(error="server_error", wait=7), call)

    assert limited.status == 429
    assert "retry-after" not in broken.headers
    assert limited.headers.get("retry-after", "7") == "7"


def test_the_docs_say_what_each_api_answers() -> None:
    docs = (Path(__file__).parents[3] / "docs/reference/faults.md").read_text()
    tables = re.findall(r"(?:^\|.*\n)+", docs.partition("What `llm_error` answers")[2], re.M)[:2]
    fields = {}
    for table in tables:
        head, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
        for error, *cells in rows:
            for names, cell in zip(head[1:], cells, strict=True):
                for name in re.findall(r"`(\w+)`", names):
                    fields[name, error.strip("`")] = cell

    assert fields.keys() == {
        (call.llm_request.api, error)
        for call in CALLS
        for error in get_args(ApiErrorKind.__value__)
    }
    for (family, error), cell in fields.items():
        call = next(call for call in CALLS if call.llm_request.api == family)
        reply, _ = answered(LlmError(error=error), call)
        status, *words = re.findall(r"^\d+|`[\w.…-]+`", cell)
        text = f"{reply.headers} {reply.body.decode()}"
        assert int(status) == reply.status, (family, error)
        assert all(word.strip("`…") in text for word in words), (family, error, text)
        assert ("`retry-after`" in cell) == ("retry-after" in reply.headers)
