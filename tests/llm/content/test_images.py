import base64
import copy
import hashlib

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from tests.llm.detached_images import detached
from warex.llm.families.openai_chat import OpenAiChat

IMAGES = OpenAiChat().images


def _part(content: bytes, detail: str = "high") -> JsonValue:
    url = "data:image/png;base64," + base64.b64encode(content).decode()
    return {"type": "image_url", "image_url": {"url": url, "detail": detail}}


def _reference(digest: str) -> JsonValue:
    image: JsonValue = {
        "url": f"blob:sha256/{digest}",
        "media_type": "image/png",
        "detail": "high",
    }
    return {"type": "image_url", "image_url": image}


def _message(*parts: JsonValue) -> JsonValue:
    return {"role": "user", "content": list(parts)}


@given(st.lists(st.binary(), max_size=4))
def test_every_image_is_kept_once_under_its_hash(images: list[bytes]) -> None:
    messages, blobs = detached([_message(*(_part(i) for i in images * 2))], IMAGES)

    digests = [hashlib.sha256(image).hexdigest() for image in images * 2]
    assert blobs == dict(zip(digests, images * 2, strict=True))
    assert messages == [_message(*map(_reference, digests))]


def test_the_messages_given_stay_as_they_are() -> None:
    messages = [_message(_part(b"x"))]
    before = copy.deepcopy(messages)
    detached(messages, IMAGES)
    assert messages == before


def test_texts_links_and_broken_images_stay_in_place() -> None:
    quoted: JsonValue = {"type": "text", "text": "data:image/png;base64,AAAA"}
    link: JsonValue = {"type": "image_url", "image_url": {"url": "https://shop.example/a.png"}}
    broken: JsonValue = {"type": "image_url", "image_url": {"url": "data:image/png;base64,A"}}
    messages = [_message(quoted, link, broken), "not a message"]
    assert detached(messages, IMAGES) == (messages, {})


def test_an_image_url_may_be_a_plain_string() -> None:
    messages, blobs = detached([{"image_url": "data:image/webp;base64,AAAA"}], IMAGES)
    (digest,) = blobs
    assert messages == [{"image_url": f"blob:sha256/{digest}", "media_type": "image/webp"}]
