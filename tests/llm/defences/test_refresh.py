from warex.llm.defences.refresh import REFRESH


def test_it_is_the_papers_own_text() -> None:
    assert REFRESH.text.startswith("Refresh the page when you encounter a transient error.")
    assert REFRESH.text.endswith("reload the page rather than using Google.")
