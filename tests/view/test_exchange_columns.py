import json
from typing import Any

import pytest

from warex.errors import TraceError
from warex.view.exchange_columns import LARGEST, Exchanges
from warex.view.json_text import as_json


def written(exchanges: Exchanges) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(as_json(exchanges.document({"model"})))
    return document


def test_requests_and_answers_are_columns_of_one_length() -> None:
    exchanges = Exchanges()
    exchanges.ask("model", 1, 0.1, "POST", "https://llm.example/", "fetch")
    row = exchanges.ask("x1", 2, 0.25, "GET", 'https://shop.example/?q="\ud800', "other")
    exchanges.answer(row, 4, 0.5, status=200, resource="document", by="site", size=12, error=None)

    assert written(exchanges) == {
        "left_out": [0],
        "seq": [1, 2],
        "t": [0.1, 0.25],
        "url": ["https://llm.example/", 'https://shop.example/?q="\ud800'],
        "request": {"values": [["POST", "fetch"], ["GET", "other"]], "codes": [0, 1]},
        "answer_seq": [-1, 4],
        "duration": [None, 0.25],
        "answer": {
            "values": [[None, None, None, None], [200, "document", "site", None]],
            "codes": [0, 1],
        },
        "size": [-1, 12],
    }


def test_an_impossible_size_is_refused_and_columns_stay_equally_long() -> None:
    exchanges = Exchanges()
    row = exchanges.ask("x1", 1, 0.0, "GET", "https://shop.example/", "other")

    with pytest.raises(TraceError, match="is out of range"):
        exchanges.answer(
            row, 2, 0.5, status=200, resource="other", by="site", size=LARGEST, error=None
        )
    assert written(exchanges)["answer_seq"] == [-1]


def test_a_run_without_exchanges_has_empty_columns() -> None:
    assert written(Exchanges())["url"] == []
