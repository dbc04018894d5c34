import re
from io import StringIO
from pathlib import Path

import msgspec
from pydantic import JsonValue
from rich.console import Console, RenderableType

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.inspection.timeline import inspect_trial
from warex.report.terminal.inspection import render_inspect
from warex.traces.events import Dns, LlmCall, LlmUnread
from warex.traces.outcome import Counted, Unscored, Void


def _printed(what: RenderableType, width: int) -> str:
    console = Console(file=StringIO(), width=width)
    console.print(what)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def _recovering() -> Story:
    return Story().thinks(1, "goto").fault(1).thinks(2, "reload", (2000, 30)).page("x2").stops()


def test_an_inspection_leads_from_each_number_to_its_line(tmp_path: Path) -> None:
    outcome = solved(3, "The event stands in the calendar.")
    folder = RunFolder(tmp_path).manifest().trial("server-error", "add", outcome, _recovering())

    text = _printed(render_inspect(inspect_trial(folder)), 200)

    assert "[5] → delivered [7] held 0.50 s" in text
    assert "(LLM call [8], request [10]) It took 3.0 s, 1 step, 2,030 tokens." in text
    assert "(2000 in at $2.5 + 30 out at $10) / 1,000,000 = $0.005300" in text
    assert "The event stands in the calendar." in text


def test_an_inspection_says_what_the_agent_noticed_and_what_it_claimed(tmp_path: Path) -> None:
    run = RunFolder(tmp_path).manifest()
    claims = Story().thinks(1, "goto").fault(1).thinks(2, "send_msg_to_user", arguments=["42"])
    claimed = Counted(ending="answered", score=0, latency_s=1)

    noticed = run.trial("server-error", "add", solved(), _recovering())
    ignored = run.trial("server-error", "move", claimed, claims.stops())

    assert "detected (LLM call [8])" in _printed(render_inspect(inspect_trial(noticed)), 120)
    text = _printed(render_inspect(inspect_trial(ignored)), 120)
    assert "not detected" in text
    assert "a success, which the check denies" in text


def test_an_inspection_of_a_void_says_why_and_invents_no_figures(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).trial("no-proxy", "add", Void(reason="lane died"))

    text = _printed(render_inspect(inspect_trial(folder)), 120)

    assert "void: lane died" in text
    assert "—" in text
    assert "$0" not in text


def test_an_inspection_says_which_ports_of_this_machine_were_refused(tmp_path: Path) -> None:
    ended = Unscored(ending="agent_crashed", latency_s=1, refused_ports=(7770, 8000))
    folder = RunFolder(tmp_path).trial("agent", "add", ended)

    text = _printed(render_inspect(inspect_trial(folder)), 120)

    assert "port 7770, 8000" in text
    assert "--host-ports 7770,8000" in text


def _seeing(folder: Path) -> Path:
    page: list[JsonValue] = [{"role": "system", "content": "You are an agent."}]
    lines = "\n".join(f"[{n}] link" for n in range(20))
    first: JsonValue = [*page, {"role": "user", "content": f"Goal: buy.\n500: error\n{lines}"}]
    second: JsonValue = [
        *page,
        {"role": "user", "content": f"Goal: buy.\n{lines}\n[20] button 'Buy'"},
    ]
    story = Story().add(Dns(name="shop.example", kind="A", answer="198.18.0.1")).fault(1)
    story.thinks(1, "reload", messages=first).page("x2").thinks(2, "click", messages=second)
    return RunFolder(folder).manifest().trial("server-error", "add", solved(), story.stops())


def test_each_step_shows_page_new_prompt_and_answer(
    tmp_path: Path,
) -> None:
    text = _printed(render_inspect(inspect_trial(_seeing(tmp_path))), 80)
    first, second = text.partition("step 1 [")[2].split("step 2 [")

    assert "page    https://shop.example/: 500 by warex" in first
    assert "faults  i1" in first
    assert "system: You are an agent." in first
    assert "user: Goal: buy." in first
    assert "[1] link" in first
    assert "… 15 more lines (--full)" in first
    assert "[19] link" in first
    assert "answer  reload()" in first
    assert "page    https://shop.example/: 200" in second
    assert "user: [20] button 'Buy'" in second
    assert "Goal" not in second.partition("Timeline")[0]


def test_each_step_shows_how_long_the_model_took_and_how_fast_it_streamed(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").thinks(2, "click", (900, 20), stream=True).stops()
    folder = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), story)
    text = _printed(render_inspect(inspect_trial(folder)), 80)
    first, second = text.partition("step 1 [")[2].split("step 2 [")

    assert re.search(r"time +0\.50 s\n", first)
    assert re.search(r"time +0\.50 s, first token after 0\.40 s, 200 tokens/s\n", second)


def test_lookups_and_full_prompts_need_full(tmp_path: Path) -> None:
    seen = inspect_trial(_seeing(tmp_path))
    short, full = (_printed(render_inspect(seen, full=way), 80) for way in (False, True))

    assert "dns" not in short
    assert "A shop.example: 198.18.0.1" in full
    assert "[9] link" not in short
    assert "[9] link" in full


def test_no_line_of_an_inspection_is_wider_than_the_terminal(tmp_path: Path) -> None:
    url = f"https://shop.example/{'a-long-part/' * 12}app.js"
    story = Story().thinks(1, "goto").fault(1, url).thinks(2, "reload").page("x2", url).stops()
    task = "webarena.reddit.1234-post-an-answer-to-the-oldest-question"
    folder = RunFolder(tmp_path).manifest().trial("server-error", task, solved(), story)
    text = _printed(render_inspect(inspect_trial(folder)), 80)

    assert max(map(len, text.splitlines())) <= 80
    assert [line for line in text.splitlines() if line.strip().startswith("ong-part")] == []


def test_a_playbook_s_trial_is_called_scripted_and_its_cost_not_real(tmp_path: Path) -> None:
    agents: list[JsonValue] = [{"name": "patient", "model": "playbook:rules.yaml"}]
    story = Story().thinks(1, "goto", model="gpt-4o-mini").page("x1").stops()
    folder = RunFolder(tmp_path).manifest(agents=agents).trial("clean", "add", solved(), story)

    text = _printed(render_inspect(inspect_trial(folder)), 200)

    assert "scripted: it tests WAREX, not an LLM; nothing was paid" in text
    money = [line for line in text.splitlines() if "$0." in line]
    assert len(money) == 2
    assert all("as if" in line for line in money)


def test_one_call_of_one_step_is_one(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto", (1, 1)).page("x1").stops()
    folder = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), story)

    text = _printed(render_inspect(inspect_trial(folder)), 200)

    assert "1 call in 1 step, 1 token in (0 cached)" in text
    assert not re.search(r"(?<![\d.,])1 (calls|steps|tokens|exchanges|characters)\b", text)


def test_what_calls_came_to_is_unknown_in_words(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto", model="my-llama").thinks(2, "stop", model="gpt-4o").stops()
    folder = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), story)

    text = _printed(render_inspect(inspect_trial(folder)), 200)

    assert "(0 reasoning), cost unknown: no price of my-llama\n" in text


def test_the_sum_says_of_how_many_calls_the_tokens_are_estimated(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto", model="gpt-4o")
    story.events[:] = [
        (t, msgspec.structs.replace(e, usage="estimated") if isinstance(e, LlmCall) else e)
        for t, e in story.events
    ]
    folder = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), story.stops())

    text = _printed(render_inspect(inspect_trial(folder)), 200)

    assert "(0 reasoning), $0.0026; the tokens of 1 are estimated or partial\n" in text


def test_a_whole_answer_that_says_nothing_is_called_empty(tmp_path: Path) -> None:
    story = Story().thinks(1, None)
    story.events[:] = [
        (t, msgspec.structs.replace(e, answer="") if isinstance(e, LlmCall) else e)
        for t, e in story.events
    ]
    folder = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), story.stops())

    assert "  answer  empty\n" in _printed(render_inspect(inspect_trial(folder)), 200)


def test_calls_that_were_read_are_shown_beside_one_that_could_not_be(tmp_path: Path) -> None:
    unread = LlmUnread(exchange="m9", url="https://api.cohere.com/v1/chat", reason="no such API")
    story = Story().thinks(1, "goto", model="gpt-4o").add(unread).thinks(2, "stop").stops()
    folder = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), story)

    text = _printed(render_inspect(inspect_trial(folder)), 200)

    assert "— (1 could not be read, first https://api.cohere.com/v1/chat: no such API; " in text
    assert "; the 2 calls that were read follow)\n" in text
    assert "  answer  goto()\n" in text
    assert "$" not in text


def test_a_long_prompt_loses_its_middle(tmp_path: Path) -> None:
    rules = "\n".join(f"Rule {n}." for n in range(50))
    examples: list[JsonValue] = [
        {"role": "user", "content": f"Example {n}: what now?"} for n in range(30)
    ]
    page = "\n".join(f"[{n}] link" for n in range(80))
    html = f"<body>{'<a>boilerplate</a>' * 40}<b>Order placed</b></body>"
    prompt: list[JsonValue] = [
        {"role": "system", "content": f"You are an agent.\n{rules}\nAnswer with one action."},
        *examples,
        {"role": "user", "content": f"{page}\n{html}\nThe last action failed: timeout."},
    ]
    story = Story().page("x1").thinks(1, "click", messages=prompt).stops()
    folder = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), story)
    seen = inspect_trial(folder)
    short = _printed(render_inspect(seen), 200)
    shown = short.partition("prompt  ")[2].partition("answer  ")[0]

    for message in (
        "system: You are an agent.",
        "… 50 more lines (--full)",
        "Answer with one action.",
        "user: Example 0",
        "… 26 more messages (--full)",
        "user: Example 29",
        "[0] link",
        "<b>Order placed</b></body>",
        "The last action failed: timeout.",
    ):
        assert message in shown
    assert len(shown.splitlines()) < 20
    assert "Rule 25." in _printed(render_inspect(seen, full=True), 200)


def test_faults_that_came_to_the_same_are_reported_once_with_their_number(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto")
    for number in range(1, 6):
        story.fault(number, f"https://shop.example/static/{number}.js", resource="script")
    story.thinks(2, "report_infeasible").stops()
    folder = RunFolder(tmp_path).manifest().trial("server-error", "add", failed(), story)
    seen = inspect_trial(folder)
    short, full = (_printed(render_inspect(seen, full=way), 200) for way in (False, True))
    reported = short.partition("Faults")[2].partition("LLM calls")[0]

    assert "i1  http_error on https://shop.example/static/*.js" in reported
    assert "5 times: i1, i2, i3, i4, i5. The first (--full shows each):" in reported
    assert reported.count("not recovered:") == 1
    assert "i5  http_error on https://shop.example/static/5.js" in full
    assert full.count("not recovered:") == 5


def test_a_call_that_the_cache_had_no_answer_for_shows_what_differs(tmp_path: Path) -> None:
    run = RunFolder(tmp_path).manifest(
        llm_cache=True, conditions=[{"name": "clean"}, {"name": "server-error"}]
    )
    asked: list[JsonValue] = [[{"role": "user", "content": f"It is 12:0{n}."}] for n in (1, 4)]
    run.trial("clean", "add", solved(), Story().thinks(1, "goto", messages=asked[0]))
    story = Story().thinks(1, "goto", messages=asked[1])
    folder = run.trial("server-error", "add", solved(), story)

    text = _printed(render_inspect(inspect_trial(folder)), 200)

    assert "not answered from it; the nearest request is step 1 [2] of clean: messages[0]" in text
    assert '"It is 12:01." there and "It is 12:04." here' in text


def test_the_number_of_answers_with_an_action_is_shown(tmp_path: Path) -> None:
    story = Story().thinks(1, None, answer="Well.").thinks(2, None, answer="So.").stops()
    none = RunFolder(tmp_path / "none").manifest().trial("clean", "add", solved(), story)
    text = " ".join(_printed(render_inspect(inspect_trial(none)), 80).split())

    assert "0 of 2 answers with an action that WAREX can read; WAREX cannot" in text
    assert "--vocabulary" in text
    assert "none was asked for yet" not in text
    both = (
        RunFolder(tmp_path / "both")
        .manifest()
        .trial("clean", "add", solved(), Story().thinks(1, "reload").thinks(2, "reload").stops())
    )
    text = _printed(render_inspect(inspect_trial(both)), 80)
    assert "2 of 2 answers with an action that WAREX can read\n" in re.sub(" +\n", "\n", text)
