from warex.effects import Delay, Reply
from warex.exchange import Exchange, Request
from warex.faults.connection.network_error import NetworkError
from warex.faults.pages import PAGE_STYLES, Incident
from warex.seeds import KeyedRng

LUCK = KeyedRng(1, "shop-down")
PAGE = Request("GET", "https://shop.test/cart?token=secret")


def reply_of(fault: NetworkError, request: Request = PAGE, rng: KeyedRng = LUCK) -> Reply:
    effects, _ = fault.effects(Exchange("1", request), {}, rng)
    reply = effects[-1]
    assert isinstance(reply, Reply)
    return reply


def family_of(fault: NetworkError, request: Request, rng: KeyedRng) -> str:
    reply = reply_of(fault, request, rng)
    incident = Incident.of(request, reply.status, rng)
    [name] = [family.name for family in PAGE_STYLES if family.render(incident).body == reply.body]
    return name


def test_the_answer_is_held_for_ten_seconds_and_replaced_by_an_error_page() -> None:
    effects, _ = NetworkError().effects(Exchange("1", PAGE), {}, LUCK)

    assert effects[0] == Delay(10.0)
    assert isinstance(effects[1], Reply)
    assert effects[1].status == 504
    assert len(effects) == 2


def test_the_page_is_html_for_the_host_and_kept_by_no_cache() -> None:
    for page in ("chromium", "firefox", "safari", "webview", "internet_gateway"):
        reply = reply_of(NetworkError(page=page))

        assert reply.headers["content-type"] == "text/html; charset=utf-8"
        assert reply.headers["cache-control"] == "no-store"
        assert b"shop.test" in reply.body


def test_the_page_shows_no_query() -> None:
    assert b"secret" not in reply_of(NetworkError(page="safari")).body


def test_a_host_keeps_its_family_for_the_whole_trial() -> None:
    fault = NetworkError()
    paths = [Request("GET", f"https://shop.test/{n}") for n in range(10)]

    assert len({family_of(fault, request, LUCK) for request in paths}) == 1


def test_other_seeds_and_other_hosts_bring_other_families() -> None:
    fault = NetworkError()
    hosts = [Request("GET", f"https://{n}.test/") for n in range(40)]

    browsers = {family.name for family in PAGE_STYLES if family.audience == "browser"}
    assert {family_of(fault, PAGE, KeyedRng(seed, "r")) for seed in range(40)} == browsers
    assert {family_of(fault, host, LUCK) for host in hosts} == browsers


def test_a_named_page_is_used_for_every_host() -> None:
    fault = NetworkError(page="firefox")

    assert family_of(fault, PAGE, LUCK) == "firefox"
    assert family_of(fault, Request("GET", "https://other.test/"), KeyedRng(9, "r")) == "firefox"


def test_the_status_can_be_chosen() -> None:
    assert reply_of(NetworkError(status=503)).status == 503


def test_the_explanation_has_the_faults_values() -> None:
    assert NetworkError().explain() == (
        "is held for 10 s and then answered 504 with a page worded as a browser's own connection"
        " error (a family chosen by seed)"
    )
    assert NetworkError(page="safari").explain().endswith("(family safari)")
