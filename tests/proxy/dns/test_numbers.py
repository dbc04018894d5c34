from mitmproxy.net.dns import response_codes, types

from warex.proxy.dns import numbers


def test_numbers_have_their_registered_names() -> None:
    for number in range(1 << 16):
        known = types.to_str(number).replace("_", "-").replace("(", "").replace(")", "")
        assert numbers.type_name(number) == known
    assert [numbers.code_name(it) for it in range(16)] == [
        response_codes.to_str(it) for it in range(16)
    ]
    assert numbers.type_name(numbers.HTTPS) == "HTTPS"
    assert numbers.code_name(numbers.NXDOMAIN) == "NXDOMAIN"
