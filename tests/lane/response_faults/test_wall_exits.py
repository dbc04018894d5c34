import pytest

from warex.effects import WallExit
from warex.exchange import Request
from warex.lane.response_faults.wall_exits import answer_at, paths_of

EXIT = WallExit("/a1", "/cart", "s=1", refusal=b"no", pages={"messages": b"code: 123456"})
CODED = WallExit("/a1", "/cart", "s=1", code="123456", refusal=b"no")


def post(wall_exit: WallExit, content: bytes = b"", now: float = 0.0) -> tuple[str, int, str]:
    what, answer = answer_at(
        wall_exit, Request("POST", "https://shop.test/a1"), "/a1", content, now
    )
    return what, answer.head.status, answer.head.headers.get("set-cookie")


def test_a_wall_is_passed_by_its_form_alone() -> None:
    assert post(EXIT) == ("cleared", 303, "s=1; Path=/; HttpOnly; SameSite=Lax")
    what, answer = answer_at(EXIT, Request("GET", "https://shop.test/a1"), "/a1", b"", 0)
    assert (what, answer.head.status) == ("", 303)
    assert "set-cookie" not in answer.head.headers.by_name


@pytest.mark.parametrize(
    ("content", "right"),
    [
        (b"code=123456", True),
        (b"code=123+456", True),
        (b"a=1&code=123-456&b=2", True),
        ("code=\u0661\u0662\u0663\u0664\u0665\u0666".encode(), True),
        (b"code=654321", False),
        (b"code=0123456", False),
        (b"code=", False),
        (b"", False),
        (b"code=%ff%fe", False),
        (b"&".join([b"x=1"] * 100), False),
        ("code=\u00b2".encode(), False),
    ],
)
def test_a_code_is_right_by_its_digits(content: bytes, right: bool) -> None:
    assert post(CODED, content)[:2] == (("cleared", 303) if right else ("wrong_code", 200))


def test_before_it_opens_nothing_passes_it() -> None:
    wall_exit = WallExit("/a1", "/", "s=1", opens_at=10)

    assert post(wall_exit, now=9.9)[:2] == ("too_early", 200)
    assert post(wall_exit, now=10)[:2] == ("cleared", 303)


def test_further_pages_of_a_wall_are_shown() -> None:
    assert paths_of(EXIT) == ("/a1", "/a1/messages")
    asked = Request("GET", "https://shop.test/a1/messages")
    what, answer = answer_at(EXIT, asked, "/a1/messages", b"", 0)
    assert (what, answer.body) == ("", b"code: 123456")
