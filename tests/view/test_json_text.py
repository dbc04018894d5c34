import json

import msgspec
import pytest

from warex.view.json_text import as_json


@pytest.mark.parametrize("odd", ["\ud800", 1 << 70])
def test_what_utf8_or_64_bits_cannot_hold_is_written_beside_json(odd: object) -> None:
    document = {"odd": odd, "ready": msgspec.Raw(b'["a",1]')}

    assert json.loads(as_json(document)) == {"odd": odd, "ready": ["a", 1]}
