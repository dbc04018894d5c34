"""Each name has addresses of its own, which identify it."""

from hypothesis import given
from hypothesis import strategies as st

from warex.proxy.dns.virtual_addresses import MOST, VirtualAddresses, is_virtual


@given(st.lists(st.text("abc.-", min_size=1, max_size=6), unique=True, max_size=30))
def test_a_virtual_address_gives_its_name(asked: list[str]) -> None:
    names = VirtualAddresses()
    fields = {name: names.addresses(name) for name in asked}
    assert len({it.v4 for it in fields.values()}) == len(asked)
    for name, addresses in fields.items():
        assert names.name_of(addresses.v4) == names.name_of(addresses.v6) == name
        assert is_virtual(addresses.v4)
        assert is_virtual(addresses.v6)


def test_a_names_case_does_not_change_its_addresses() -> None:
    names = VirtualAddresses()
    assert names.addresses("Shop.Test") == names.addresses("shop.TEST")
    assert list(names) == ["shop.test"]


def test_addresses_of_others_are_nobodys() -> None:
    names = VirtualAddresses()
    for address in ("198.18.0.1", "8.8.8.8", "::1", "fd5a:8e37:c1d2::1", "no address"):
        assert names.name_of(address) is None
    assert not is_virtual("198.17.255.255")
    assert not is_virtual("198.20.0.0")
    assert not is_virtual("127.0.0.1")


def test_when_all_are_given_out_who_was_longest_unused_loses_its_own() -> None:
    names = VirtualAddresses(size=3)
    first, second, _ = (names.addresses(name) for name in ("a", "b", "c"))
    # Connecting counts as use, as asking does.
    assert names.name_of(first.v4) == "a"
    fourth = names.addresses("d")
    assert fourth == second
    assert names.name_of(fourth.v6) == "d"
    assert sorted(names) == ["a", "c", "d"]
    assert names.addresses("b") not in (first, fourth)


def test_a_flood_of_names_is_bounded() -> None:
    names = VirtualAddresses()

    for number in range(MOST + 10):
        names.addresses(f"{number}.test")

    assert len(list(names)) == MOST
    assert names.name_of(names.addresses(f"{MOST + 9}.test").v4) == f"{MOST + 9}.test"
