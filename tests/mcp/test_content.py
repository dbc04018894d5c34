import base64

from pydantic import JsonValue

from warex.mcp.content import detach_blobs, truncated

PICTURE = base64.b64encode(b"GIF89a").decode()


def test_an_image_becomes_the_name_of_its_blob() -> None:
    result: JsonValue = {"content": [{"type": "image", "data": PICTURE, "mimeType": "image/gif"}]}

    retained, blobs = detach_blobs(result, bytes)

    ((digest, content),) = blobs.items()
    assert content == b"GIF89a"
    part = {"type": "image", "data": f"blob:sha256/{digest}", "mimeType": "image/gif"}
    assert retained == {"content": [part]}


def test_sound_and_files_become_their_length() -> None:
    file: JsonValue = {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "QUJD"}
    sound: JsonValue = {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"}

    retained, blobs = detach_blobs([{"type": "resource", "resource": file}, sound], bytes)

    assert str(retained).count("4 characters of base64") == 2
    assert blobs == {}


def test_what_is_not_base64_stays() -> None:
    part: JsonValue = {"type": "image", "data": "not base64!", "mimeType": "image/gif"}

    assert detach_blobs(part, bytes) == (part, {})


def test_what_is_short_stays_as_it_is() -> None:
    value: JsonValue = {"a": ["text", 1, None, True, 1.5]}

    assert truncated(value) == (value, False)


def test_only_the_beginning_of_a_long_text_is_kept() -> None:
    assert truncated({"a": "b " * 15}, 12) == ({"a": f"{'b ' * 5}… (20 more characters)"}, True)


def test_many_small_things_are_cut_as_well() -> None:
    retained, cut = truncated([[]] * 50_000)

    assert isinstance(retained, list)
    assert (len(retained), cut) == (10_000, True)


def test_what_is_nested_deeply_is_left_out() -> None:
    value: JsonValue = "x"
    for _ in range(500):
        value = [value]

    assert truncated(value)[1]
    assert detach_blobs(value, bytes)[1] == {}
