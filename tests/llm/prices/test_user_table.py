from pathlib import Path

import pytest

from warex.errors import InputError
from warex.llm.prices.table import Price, built_in_prices
from warex.llm.prices.user_table import current_prices, price_file

OWN = built_in_prices().with_own({"house": Price(input=1, output=2)})


def test_the_users_own_table_is_in_force_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WAREX_PRICES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = tmp_path / "warex" / "prices.json"

    assert (price_file(), current_prices()) == (path, built_in_prices())

    path.parent.mkdir()
    path.write_bytes(OWN.json_bytes())
    assert current_prices() == OWN


def test_a_variable_names_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.json"
    monkeypatch.setenv("WAREX_PRICES", str(path))

    with pytest.raises(InputError, match=r"WAREX_PRICES names .*mine.json, which does not exist"):
        current_prices()
    path.write_bytes(OWN.json_bytes())
    assert current_prices() == OWN


@pytest.mark.parametrize("content", ["", "{}", "[", '{"date": "2026-01-01", "models": {"m": {}}}'])
def test_a_damaged_table_is_named_with_the_remedy(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(content)
    monkeypatch.setenv("WAREX_PRICES", str(path))

    with pytest.raises(InputError, match=r"mine.json is not a price table: .*warex prices update"):
        current_prices()
