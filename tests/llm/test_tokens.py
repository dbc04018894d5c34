"""Tokens of an answer are read and hidden; every other byte of it stays."""

import json
from typing import Any

import pytest

from warex.llm.tokens import CallTokens, ChoiceTokens, TokenReader, ask_for_tokens

HIDING = ask_for_tokens(b"{}", "vllm")


def entry(logprob: Any, token: str = "a") -> str:
    return json.dumps({"token": token, "logprob": logprob})


def answer(*logprobs: Any, ids: str = "[7]", prompt: str = "[1]") -> bytes:
    content = ", ".join(map(entry, logprobs))
    return (
        f'{{"prompt_token_ids": {prompt},"choices":[{{"logprobs": {{"content": [{content}]}} ,'
        f' "token_ids":{ids}}}]}}'
    ).encode()


@pytest.mark.parametrize(
    ("sent", "dialect", "asked"),
    [
        ("{}", "openai", '{"logprobs": true}'),
        (
            '{"n" :1.50}',
            "vllm",
            '{"return_token_ids": true, "logprobs": true, "n" :1.50}',
        ),
        ('{"logprobs" : null}', "openai", '{"logprobs" : true}'),
        ('{"logprobs":true,"top_logprobs":2}', "openai", '{"logprobs":true,"top_logprobs":2}'),
    ],
)
def test_a_request_is_changed_by_what_it_lacks(sent: str, dialect: Any, asked: str) -> None:
    assert ask_for_tokens(sent.encode(), dialect).body.decode() == asked


def test_the_tokens_say_by_which_sampling_they_were_asked_for() -> None:
    sent = b'{"temperature": 0, "top_k": 20, "min_p": null, "top_p": "1", "frequency_penalty": NaN}'
    reader = TokenReader(ask_for_tokens(sent, "vllm"))
    reader.read(answer(-0.5), complete=True)
    assert CallTokens.read(reader.tokens().written()).sampling == {"temperature": 0, "top_k": 20}


def test_numbers_escapes_and_space_of_an_answer_stay() -> None:
    text = (
        r'{ "prompt_token_ids":[1, 2] , "x": 1.0e+2, "t": "\u00e9\/", "choices": [ {"index":0,'
        r' "logprobs": {"content":[{"token":"\"token_ids\": [3]","logprob":-0.5}]}, "token_ids"'
        r' : [3] ,"message": {"logprobs": [1], "token_ids": [2]}} ]}'
    )
    left = (
        r'{ "prompt_token_ids":null , "x": 1.0e+2, "t": "\u00e9\/", "choices": [ {"index":0,'
        r' "logprobs": null, "token_ids"'
        r' : null ,"message": {"logprobs": [1], "token_ids": [2]}} ]}'
    )
    reader = TokenReader(HIDING)
    assert reader.read(text.encode(), complete=True) == left.encode()
    assert reader.tokens() == CallTokens([1, 2], [ChoiceTokens(0, [3], [-0.5])])
    assert CallTokens.read(reader.tokens().written()) == reader.tokens()


@pytest.mark.parametrize("data", [b"", b"[DONE]", b"7", b'{"choices":7}', b"\xff", b"[" * 9999])
def test_what_is_not_an_answer_stays(data: bytes) -> None:
    reader = TokenReader(HIDING)
    assert reader.read(data, complete=False) == data
    with pytest.raises(ValueError, match="returned no log-probabilities"):
        reader.tokens()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (answer(-1, ids="null"), "no token ids"),
        (answer(-1, prompt="null"), "no token ids"),
        (answer(-1, -2), "the choice 0 has 1 token ids and 2 log-probabilities"),
        (answer(None), "None as a log-probability"),
        (answer(float("-inf")), "-inf as a log-probability"),
        (answer(10**400), "as a log-probability"),
        (answer(True), "True as a log-probability"),
        (answer(-1, ids='["7"]'), "token ids that are not 0 to"),
        (answer(-1, ids="[true]"), "token ids that are not 0 to"),
        (answer(-1, ids="[99999999999]"), "token ids that are not 0 to"),
    ],
)
def test_tokens_that_cannot_be_used_are_a_sentence(data: bytes, why: str) -> None:
    reader = TokenReader(HIDING)
    reader.read(data, complete=True)
    with pytest.raises(ValueError, match=why):
        reader.tokens()


def test_an_event_is_left_out_only_if_it_has_nothing_but_tokens() -> None:
    event = b'{"choices":[{"delta":{%s},"finish_reason":%s,"token_ids":[7]}]}'
    reader = TokenReader(HIDING)
    assert reader.read(event % (b"", b"null"), complete=False) is None
    assert reader.read(event % (b'"content":""', b"null"), complete=False) is not None
    assert reader.read(event % (b"", b'"stop"'), complete=False) is not None
    own = TokenReader(ask_for_tokens(b'{"logprobs": true}', "vllm"))
    assert own.read(event % (b"", b"null"), complete=False) is not None
