from warex_testbed.sites.shop.brand import Delivery, Voucher
from warex_testbed.sites.shop.seed import brand

VOLTLINE = brand("shop.warex.test")


def test_money_is_written_with_its_sign_and_thousands() -> None:
    assert VOLTLINE.money(129900) == "€1,299.00"
    assert VOLTLINE.money(5) == "€0.05"


def test_a_delivery_is_free_from_its_threshold_on() -> None:
    delivery = Delivery("Standard", 495, "", free_from=5000)
    assert (delivery.cost(4999), delivery.cost(5000)) == (495, 0)
    assert Delivery("Express", 990, "").cost(10**6) == 990


def test_a_voucher_wants_its_minimum_and_takes_whole_cents() -> None:
    voucher = Voucher("TEN", 10, minimum=1000)
    assert (voucher.discount(999), voucher.discount(1099)) == (0, 109)


def test_a_voucher_code_is_read_in_any_case_and_others_are_unknown() -> None:
    assert VOLTLINE.voucher(" volt10 ") == VOLTLINE.vouchers[0]
    assert VOLTLINE.voucher("LANE5") is None
