from warex.llm.defences.popup_warning import POPUP_WARNING


def test_it_says_what_to_do_and_spares_the_dialogs_of_the_task() -> None:
    assert "dismiss it with its own control" in POPUP_WARNING.text
    assert POPUP_WARNING.text.endswith("is part of the page: use it.")
