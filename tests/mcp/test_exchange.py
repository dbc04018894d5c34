from warex.exchange import Exchange, Request
from warex.mcp.exchange import McpExchange, as_mcp


def test_what_is_not_a_call_is_judged_as_an_example_of_one() -> None:
    page = Exchange("x1", Request("GET", "https://shop.test/"))

    seen = as_mcp(page)

    assert (seen.id, seen.mcp_requests[0].method) == ("x1", "tools/call")
    assert as_mcp(seen) is seen
    assert isinstance(seen, McpExchange)
