from warex.faults.pages.incident import Incident, Page
from warex.seeds import KeyedRng


def at(path: str = "/", status: int = 500, seed: int = 1) -> Incident:
    return Incident(status, "shop.test", path, KeyedRng(seed, "rule"))


def test_a_host_keeps_its_wording_and_each_url_has_its_own_reference() -> None:
    wordings = {at(f"/{n}").pick("a", "b", "c", "d") for n in range(20)}
    references = {at(f"/{n}").reference("id", 16) for n in range(20)}

    assert len(wordings) == 1
    assert len(references) == 20
    assert all(len(reference) == 16 for reference in references)


def test_values_are_escaped_and_the_template_is_not() -> None:
    page = at("/<b>").html("<i>$path $more</i>", more="&")

    assert page.body == b"<i>/&lt;b&gt; &amp;</i>"


def test_text_fits_the_side_that_is_at_fault() -> None:
    assert at(status=499).by_side("client", "server") == "client"
    assert at(status=500).by_side("client", "server") == "server"


def test_a_reply_carries_the_pages_headers_and_those_of_the_fault() -> None:
    reply = Page("text/plain", b"no", {"server": "x"}).reply(503, {"retry-after": "5"})

    assert reply.status == 503
    assert reply.body == b"no"
    assert reply.headers == {
        "server": "x",
        "content-type": "text/plain",
        "cache-control": "no-store",
        "retry-after": "5",
    }
