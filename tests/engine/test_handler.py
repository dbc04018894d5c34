from warex.engine.handler import Address, ClientHello, Connection


def test_a_connection_goes_to_its_sni_before_its_address() -> None:
    connection = Connection(1, Address("127.0.0.1", 5), Address("192.0.2.1", 443))
    assert connection.host == "192.0.2.1"
    connection.hello = ClientHello("")
    assert connection.host == "192.0.2.1"
    connection.hello = ClientHello("shop.example")
    assert connection.host == "shop.example"
