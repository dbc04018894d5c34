"""An episode's tokens reach its trainer; without them it has no reward."""

import json
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import msgspec
import pytest

from tests.proxy.support.origin import Origin
from tests.proxy.support.token_model import PROMPT_IDS, WORDS, TokenModel
from tests.rl.test_trace_entries import CALL
from warex.errors import InputError
from warex.llm.tokens import CallTokens, ChoiceTokens
from warex.rl import EpisodePlan, EpisodeTask, Session, SessionFactory
from warex.rl.testbed import MODEL_ORIGIN
from warex.rl.training_trace import training_trace, why_sampled_otherwise

TOKENS = CallTokens([1, 2, 3], [ChoiceTokens(0, [7, 8], [-0.5, -1.0])])


def starting(origin: Origin) -> Callable[[object, int], AbstractContextManager[EpisodeTask]]:
    @contextmanager
    def start(prompt: object, seed: int) -> Iterator[EpisodeTask]:
        yield EpisodeTask(
            lambda episode: 1.0, maps=(f"{MODEL_ORIGIN}=http://127.0.0.1:{origin.port}",)
        )

    return start


def ask_model(
    session: Session, path: str = "chat/completions", sampling: Mapping[str, float] | None = None
) -> None:
    handler = urllib.request.ProxyHandler({"http": session.episode.proxy_url})
    messages = [{"role": "user", "content": "Which?"}]
    asked = {"model": "policy", "max_tokens": 9, "messages": messages, **(sampling or {})}
    body = json.dumps(asked).encode()
    request = urllib.request.Request(f"{MODEL_ORIGIN}/v1/{path}", data=body)
    urllib.request.build_opener(handler).open(request, timeout=10).close()


def test_a_turn_masks_its_prompt_and_an_answer_that_was_cut() -> None:
    (turn,) = training_trace([CALL], {CALL.exchange: TOKENS}).turns
    assert turn.loss_mask == [0, 0, 0, 1, 1]
    assert (turn.node_id, turn.completion_token_ids) == ("x3", [7, 8])
    cut = msgspec.structs.replace(CALL, complete=False)
    (turn,) = training_trace([cut], {CALL.exchange: TOKENS}).turns
    assert turn.loss_mask == [0, 0, 0, 0, 0]


def test_a_call_without_ids_is_not_a_turn() -> None:
    texts = CallTokens([], [ChoiceTokens(0, [], [-0.5], ["a"])])
    assert training_trace([CALL], {}).turns == []
    assert training_trace([CALL], {CALL.exchange: texts}).turns == []


@pytest.mark.wire
def test_an_episode_has_the_tokens_of_its_calls(origin: Origin, tmp_path: Path) -> None:
    origin.reset()
    TokenModel(origin)
    with SessionFactory(
        starting(origin),
        "paper/server-error",
        out=tmp_path / "out",
        plan=lambda prompt, seed, place: EpisodePlan(is_faulted=False),
        capture_tokens=["model.warex.test"],
    ) as factory:
        session = factory.create("p")
        ask_model(session)
        (turn,) = session.fetch_training_trace().turns
        (entry,) = session.fetch_proxy_trace()
        assert session.verify().env_reward == 1.0
    assert turn.prompt_token_ids == entry["prompt_token_ids"] == PROMPT_IDS
    assert turn.completion_token_ids == [id for _, id, _ in WORDS]
    assert turn.per_token_logps == [logprob for _, _, logprob in WORDS]


@pytest.mark.slow
@pytest.mark.wire
@pytest.mark.parametrize(
    ("paths", "why"),
    [
        ((), "made no call to the model"),
        (("chat/completions",), "the model server returned no log-probabilities"),
        (("messages",), "the call is of anthropic_messages"),
        (("completions",), "cannot be read"),
    ],
)
def test_an_episode_without_tokens_has_no_reward(
    origin: Origin, tmp_path: Path, paths: tuple[str, ...], why: str
) -> None:
    origin.reset()
    TokenModel(origin, has_tokens=False)
    with SessionFactory(
        starting(origin),
        "paper/server-error",
        out=tmp_path / "out",
        plan=lambda prompt, seed, place: EpisodePlan(is_faulted=False),
        capture_tokens=["model.warex.test"],
    ) as factory:
        session = factory.create("p")
        for path in paths:
            ask_model(session, path)
        result = session.verify()
    assert result.env_reward is None
    assert why in result.artifacts["reason"]
    assert session.fetch_training_trace().turns == []
    assert len(session.trial.requests) == len(paths)


@pytest.mark.slow
@pytest.mark.wire
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"temperature": 0.7, "top_k": 0}, None),
        ({"temperature": 0.7, "top_k": 20}, "sampled with the top_k 20, and the policy samples"),
    ],
)
def test_an_episode_with_other_sampling_has_no_reward(
    origin: Origin, tmp_path: Path, asked: dict[str, float], why: str | None
) -> None:
    origin.reset()
    TokenModel(origin)
    with SessionFactory(
        starting(origin),
        "paper/server-error",
        out=tmp_path / "out",
        plan=lambda prompt, seed, place: EpisodePlan(is_faulted=False),
        sampling={"temperature": 0.7, "top_k": -1},
        capture_tokens=["model.warex.test"],
    ) as factory:
        session = factory.create("p")
        ask_model(session, sampling=asked)
        result = session.verify()
    assert result.env_reward == (1.0 if why is None else None)
    assert (why or "None") in str(result.artifacts["reason"])


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"temperature": 0.7}, None),
        ({"temperature": 0.7, "top_p": 1, "top_k": -1, "min_p": 0, "repetition_penalty": 1}, None),
        ({}, "was sampled without a temperature, and the policy samples with 0.7"),
        ({"temperature": 0}, "was sampled with the temperature 0, and the policy samples with 0.7"),
        ({"temperature": 0.7, "top_p": 0.9}, "with the top_p 0.9, and the policy samples with 1"),
        ({"temperature": 0.7, "top_k": 20}, "with the top_k 20, and the policy samples with 0"),
        ({"temperature": 0.7, "min_p": 0.1}, "with the min_p 0.1, and the policy samples with 0"),
        ({"temperature": 0.7, "frequency_penalty": 1}, "the frequency_penalty 1, and the policy"),
    ],
)
def test_the_sampling_of_each_call_is_compared(asked: dict[str, float], why: str | None) -> None:
    tokens = {"x3": CallTokens([1], [], asked)}
    result = why_sampled_otherwise(tokens, {"temperature": 0.7, "top_k": -1})
    assert (why or "None") in str(result)


@pytest.mark.parametrize(
    ("sampling", "capture", "why"),
    [
        ({"temperature": 0.0}, ["model.warex.test"], "the temperature 0.0 is not a number above 0"),
        ({"temprature": 0.7}, ["model.warex.test"], "'temprature'; did you mean 'temperature'"),
        ({"min_p": float("nan")}, ["model.warex.test"], "the min_p nan is not a finite number"),
        ({"temperature": 1.0}, [], "name the model server by capture_tokens"),
    ],
)
def test_a_sampling_that_cannot_be_compared_is_refused(
    origin: Origin, tmp_path: Path, sampling: dict[str, float], capture: list[str], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        SessionFactory(
            *(starting(origin), None),
            out=tmp_path / "out",
            sampling=sampling,
            capture_tokens=capture,
        )
