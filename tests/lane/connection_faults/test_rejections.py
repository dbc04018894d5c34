"""Whose refusal of our certificate is final."""

import pytest

from warex.lane.connection_faults.rejections import CertificateRejections, is_greased

OPENSSL = [0x1302, 0x1303, 0x00FF]
CHROMIUM = [0x5A5A, 0x1301, 0x1302]


@pytest.mark.parametrize(
    ("suites", "greased"), [(OPENSSL, False), (CHROMIUM, True), ([0x0A1A], False), ([], False)]
)
def test_chromium_is_known_by_its_grease(suites: list[int], greased: bool) -> None:
    assert is_greased(suites) is greased


def test_one_rejection_is_enough_for_most_clients() -> None:
    refusals = CertificateRejections()
    refusals.begin("c1", 1.0, OPENSSL)
    assert refusals.rejected("c1", "shop.example", 1.1)


def test_chromium_has_a_second_chance() -> None:
    refusals = CertificateRejections()
    refusals.begin("c1", 1.0, CHROMIUM)
    assert not refusals.rejected("c1", "shop.example", 1.1)
    refusals.begin("c2", 2.0, CHROMIUM)
    assert not refusals.rejected("c2", "other.example", 2.1)
    refusals.begin("c3", 3.0, CHROMIUM)
    assert refusals.rejected("c3", "shop.example", 3.1)


def test_connections_begun_side_by_side_are_one_refusal() -> None:
    refusals = CertificateRejections()
    for number in range(6):
        refusals.begin(f"c{number}", 1.0, CHROMIUM)
    lost = [refusals.rejected(f"c{number}", "shop.example", 1.1 + number) for number in range(6)]
    assert lost == [False] * 6


def test_an_accepted_handshake_resets_the_count() -> None:
    refusals = CertificateRejections()
    for number in (1, 3, 5):
        refusals.begin(f"c{number}", number, CHROMIUM)
        assert not refusals.rejected(f"c{number}", "shop.example", number + 0.1)
        refusals.begin(f"c{number + 1}", number + 1, CHROMIUM)
        refusals.accepted(f"c{number + 1}", "shop.example")


def test_chromium_that_has_accepted_may_reject_what_no_page_asks_for() -> None:
    refusals = CertificateRejections()
    refusals.begin("c0", 1.0, CHROMIUM)
    assert not refusals.rejected("c0", "shop.example", 1.1)
    refusals.begin("c1", 1.2, CHROMIUM)
    refusals.accepted("c1", "shop.example")
    for number in (2, 3, 4, 5):
        refusals.begin(f"c{number}", number, CHROMIUM)
        assert not refusals.rejected(f"c{number}", "shop.example", number + 0.1)

    refusals.begin("c6", 6.0, OPENSSL)
    assert refusals.rejected("c6", "shop.example", 6.1)
