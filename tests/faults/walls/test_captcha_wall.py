from warex.effects import Reply
from warex.exchange import Exchange, Request
from warex.faults.walls.captcha_wall import CaptchaWall
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/"))


def test_a_box_is_to_be_ticked_and_the_status_is_as_said() -> None:
    (reply,), _ = CaptchaWall(status=429).effects(PAGE, {}, KeyedRng(1, "rule"))

    assert isinstance(reply, Reply)
    assert reply.status == 429
    assert reply.body.count(b'type="checkbox"') == 1


def test_the_seed_chooses_the_look() -> None:
    replies = [CaptchaWall().effects(PAGE, {}, KeyedRng(seed, "r"))[0][0] for seed in range(9)]
    assert len({reply.body[:400] for reply in replies if isinstance(reply, Reply)}) > 2
