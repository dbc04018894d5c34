"""No planted secret is left, and no clean text is changed."""

import pytest
from bench.secrets.clean import changed
from bench.secrets.command import is_left, main
from bench.secrets.planted import Planted, planted

EVERY = list(planted())


@pytest.mark.parametrize("kind", sorted({it.kind for it in EVERY}))
def test_no_secret_of_any_kind_is_left(kind: str) -> None:
    some = [it for it in EVERY if it.kind == kind][:8]

    assert [it for it in some if is_left(it)] == []


def test_a_text_without_a_secret_stays_as_it_is() -> None:
    assert changed()[0] == []


def test_an_unrecognised_secret_is_counted_as_left() -> None:
    prose = "the word that opens it is swordfish"

    assert is_left(Planted("prose", "prompt", "swordfish", prose))


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["2", "3"])
def test_none_of_a_thousand_secrets_is_left(seed: str) -> None:
    assert len(EVERY) > 1000
    assert main(["--seed", seed]) == 0
