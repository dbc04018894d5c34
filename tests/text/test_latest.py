from warex.text.latest import Latest


def test_the_keys_that_were_set_last_are_kept() -> None:
    latest = Latest[str, int](2)
    latest["a"] = latest["b"] = 1
    latest["a"] = 2
    latest["c"] = 3
    assert dict(latest) == {"a": 2, "c": 3}
