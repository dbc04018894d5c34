import threading
from pathlib import Path

import pytest

from tests.training.tiny_model import tiny_model
from warex.training.inference import batching
from warex.training.inference.batching import Batcher, Generation, GenerationRequest, _cut, generate
from warex.training.model.loading import LoadedModel
from warex.training.ranking.legal import LegalAnswer


def wanted(
    prompt: str = "a", tokens: int = 5, stop: tuple[str, ...] = (), adapter: str | None = None
) -> tuple[GenerationRequest, list[Generation]]:
    generated: list[Generation] = []
    return GenerationRequest(prompt, adapter, 0, 1, tokens, stop, generated.append), generated


def test_a_text_ends_before_the_first_text_that_stops_it() -> None:
    assert _cut("one\ntwo\nthree", ("three", "\n")) == ("one", "stop")
    assert _cut("one", ("two",)) == ("one", None)


def test_those_who_wait_and_want_the_same_are_answered_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batches: list[list[GenerationRequest]] = []
    begun, go_on = threading.Event(), threading.Event()

    def answer(loaded: LoadedModel, batch: list[GenerationRequest]) -> None:
        batches.append(batch)
        begun.set()
        go_on.wait(10)

    monkeypatch.setattr(batching, "generate", answer)
    batcher = Batcher(LoadedModel(None, None, "cpu", "m"), size=2)
    first, other, late = wanted()[0], wanted(adapter="b")[0], wanted()[0]
    missing, more = wanted()[0], [wanted()[0] for _ in range(2)]
    batcher.start()
    batcher.ask(first)
    assert begun.wait(10)
    missing.cancelled = True
    for one in (other, late, missing, *more):
        batcher.ask(one)
    go_on.set()
    while sum(map(len, batches)) < 5:
        pass
    batcher.close()

    assert batches == [[first], [other], [late], more]


def test_a_batch_that_breaks_is_reported_and_the_next_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = [True]

    def answer(loaded: LoadedModel, batch: list[GenerationRequest]) -> None:
        if broken.pop() if broken else False:
            raise RuntimeError("out of memory")
        batch[0].deliver(Generation("hi", 1, "stop"))

    monkeypatch.setattr(batching, "generate", answer)
    batcher = Batcher(LoadedModel(None, None, "cpu", "m"))
    (first, generated), (second, generated_later) = wanted(), wanted(adapter="b")
    batcher.ask(first)
    batcher.ask(second)
    batcher.start()
    while not generated_later:
        pass
    batcher.close()

    assert [it.error for it in generated] == ["the model broke: out of memory"]
    assert generated_later == [Generation("hi", 1, "stop")]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    from warex.training.model.loading import load_model

    return load_model(str(tiny_model(tmp_path_factory.mktemp("m"))), precision="fp32")


@pytest.mark.slow
def test_an_answer_grows_and_ends_at_its_own_length(loaded: LoadedModel) -> None:
    (short, generated), (long, generated_more) = wanted("a", 3), wanted("a longer prompt", 6)

    generate(loaded, [short, long])

    assert [it.tokens for it in generated] == [1, 2, 3]
    assert [it.finish for it in generated] == [None, None, "length"]
    assert generated_more[-1].tokens == 6
    assert generated_more[-1].text.startswith(generated_more[2].text)


@pytest.mark.slow
def test_an_answer_is_the_same_alone_and_in_a_batch(loaded: LoadedModel) -> None:
    alone, together = wanted("what?", 8), wanted("what?", 8)
    generate(loaded, [alone[0]])
    generate(loaded, [wanted("something much longer than that", 8)[0], together[0]])

    assert together[1][-1] == alone[1][-1]


@pytest.mark.slow
def test_finished_and_lost_requests_get_no_more_tokens(loaded: LoadedModel) -> None:
    (missing, generated), (enough, generated_enough) = wanted("a", 50), wanted("b", 50)
    missing.cancelled = True
    enough.done = lambda text: len(text) > 2

    generate(loaded, [missing, enough])

    assert len(generated) == 1
    assert generated_enough[-1].finish == "stop"
    assert generated_enough[-1].tokens < 50


@pytest.mark.slow
@pytest.mark.parametrize("thought", [False, True])
def test_a_bound_answer_is_a_legal_action_beside_one_that_is_free(
    tmp_path: Path, thought: bool
) -> None:
    from warex.training.model.loading import load_model

    loaded = load_model(str(tiny_model(tmp_path / "m")), precision="fp32", device="cpu")
    actions = ("click('12')", "click('é')", "reload()")
    (free, generations), (bound, answered) = wanted("a", 100), wanted("Which page?", 100)
    bound.legal = LegalAnswer(actions, thought)

    generate(loaded, [free, bound])

    last = answered[-1].text
    assert generations[-1].text.splitlines()[-1:] not in [[it] for it in actions]
    assert last.rpartition("\n")[2] in actions
    assert answered[-1].finish == "stop"
    assert ("\n" in last) == thought
