"""The current price table: the user's own if there is one, else the built-in one."""

import os
from pathlib import Path

from pydantic import ValidationError

from warex.errors import InputError
from warex.files.reading import read_regular_file
from warex.llm.prices.table import PriceTable, built_in_prices
from warex.text.english import first_validation_error

LARGEST = 1 << 26
"""Bytes of a table or a collection of prices: the largest have some five million."""


def price_file() -> Path | None:
    """Return the path of the user's table; None for a user without a home folder.

    It is ``$WAREX_PRICES``, or a file in the user's data folder (XDG Base Directory).
    """
    if named := os.environ.get("WAREX_PRICES"):
        return Path(named)
    try:
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    except RuntimeError:
        return None
    return Path(data) / "warex" / "prices.json"


def current_prices() -> PriceTable:
    """Return the user's table, or the built-in one if there is none.

    Raises InputError if ``$WAREX_PRICES`` names no file, or the file is not a table.
    """
    path = price_file()
    if path is None:
        return built_in_prices()
    try:
        return read_prices(path)
    except FileNotFoundError:
        if os.environ.get("WAREX_PRICES"):
            raise InputError(
                f"WAREX_PRICES names {path}, which does not exist; unset it, or write the file with"
                " `warex prices update`"
            ) from None
        return built_in_prices()


_REMEDY = "write it again with `warex prices update`, or delete it"


def read_prices(path: Path, remedy: str = _REMEDY) -> PriceTable:
    """Return the table in a file; ``remedy`` is part of the error for a damaged one.

    Raises FileNotFoundError, and InputError for a file that cannot be read or is not a table.
    """
    try:
        return PriceTable.model_validate_json(read_regular_file(path, largest=LARGEST))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}; {remedy}") from None
    except ValidationError as error:
        why = first_validation_error(error)
        raise InputError(f"{path} is not a price table: {why}; {remedy}") from None
