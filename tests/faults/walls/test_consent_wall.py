from warex.effects import Reply
from warex.exchange import Exchange, Request
from warex.faults.walls.consent_wall import ConsentWall
from warex.seeds import KeyedRng


def test_both_choices_send_the_form() -> None:
    page = Exchange("1", Request("GET", "https://shop.test/"))
    (reply,), _ = ConsentWall().effects(page, {}, KeyedRng(1, "rule"))

    assert isinstance(reply, Reply)
    assert reply.status == 200
    assert reply.body.count(b'<button type="submit"') == 2
