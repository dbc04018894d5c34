from warex.agents.reference.axtree import Line
from warex.agents.reference.compact import FEW_TEXTS, MOST_LINES, MOST_MORE, compact


def test_what_can_be_used_headings_messages_and_texts_are_kept() -> None:
    tree = [
        Line(0, "main ''", 1),
        Line(1, "heading 'Basket'", 2),
        Line(1, "list ''", 3),
        Line(2, "listitem ''", 4),
        Line(3, "link 'Bread'", 5),
        Line(3, "StaticText '" + "x" * 200 + "'", None),
        Line(1, "status 'Saved'", 6),
        Line(2, "button 'Undo'", 7),
    ]

    retained = compact(tree, "Buy bread.")

    assert [(line.depth, line.text.partition(" ")[0], line.backend_id) for line in retained] == [
        (0, "heading", None),
        (0, "link", 5),
        (0, "StaticText", None),
        (0, "status", None),
        (1, "button", 7),
    ]
    assert len(retained[2].text) < 100


def test_compacting_drops_repeats_and_later_texts_but_not_options() -> None:
    texts = [Line(0, f"StaticText 'Review {n}'", None) for n in range(FEW_TEXTS + 5)]
    tree = [Line(0, "link 'Bread'", 1), Line(0, "link 'Bread'", 2), Line(0, "option 'Two'", 3)]

    retained = compact([*tree, *texts, Line(0, "button 'Buy'", 4)], "")

    assert [line.text for line in retained[:2]] == ["link 'Bread'", "option 'Two'"]
    assert retained[1].backend_id is None
    assert [line.text for line in retained[2:-1]] == [line.text for line in texts[:FEW_TEXTS]]
    assert retained[-1].backend_id == 4


def test_compacting_keeps_form_fields_and_lines_that_the_goal_names() -> None:
    mails = [Line(0, f"link 'Mail {n} of June'", n) for n in range(100)]
    tree = [*mails, Line(0, "button 'Send'", 200), Line(0, "textbox 'To'", 300)]

    retained = [line.backend_id for line in compact(tree, "Open mail 77 of June.")]

    assert len(retained) == MOST_LINES
    assert {77, 200, 300} <= set(retained)
    # All have "June", so the first are kept.
    assert retained == [*range(MOST_LINES - 3), 77, 200, 300]


def test_compacting_keeps_rare_lines_before_common_and_repeated_ones() -> None:
    days = [Line(1, f"link 'Go to {n} May'", n) for n in range(60)]
    likes = [Line(2, "button 'Like'", 100 + n) for n in range(0, 40, 2)]
    between = [Line(2, f"link 'Author {n}'", 200 + n) for n in range(20)]
    pairs = [line for pair in zip(likes, between, strict=True) for line in pair]
    few = [Line(3, "cell 'Room Juniper'", 300), Line(1, "link 'Settings'", 301)]

    retained = [line.text for line in compact([*days, *pairs, *few], "Where is the review?")]

    assert {"cell 'Room Juniper'", "link 'Settings'", "button 'Like'"} <= set(retained)
    assert retained.count("button 'Like'") == 1


def test_a_long_label_counts_as_one_of_twice_as_many() -> None:
    words = [f"{a}{b}a" for a in "klmnopqrst" for b in "aeiou"]
    short = [Line(1, f"link '{word}'", at) for at, word in enumerate(words[:20])]
    long = [
        Line(2, f"link 'More of {word} and the sea'", 50 + at) for at, word in enumerate(words[:15])
    ]

    retained = [line.backend_id for line in compact([*long, *short], "")]

    assert {line.backend_id for line in short} <= set(retained)
    assert len(retained) == MOST_LINES


def test_compacting_keeps_a_limited_number_of_short_links() -> None:
    mails = [Line(1, f"button 'Star letter {n}'", n) for n in range(60)]
    parts = [f"{a}{b}x" for a in "abcdefgh" for b in "klmnopqr"]
    links = [Line(0, f"link '{part}'", 100 + at) for at, part in enumerate(parts)]

    few = compact([*mails, *links[:20]], "Star letter 3.")
    many = compact([*mails, *links], "Star letter 3.")

    assert {line.backend_id for line in links[:20]} <= {line.backend_id for line in few}
    assert len(many) == MOST_LINES + MOST_MORE


def test_compacting_keeps_the_neighbours_of_a_line_that_the_goal_names() -> None:
    def row(at: int, sender: str, subject: str) -> list[Line]:
        return [
            Line(0, f"checkbox 'Select {subject}'", 3 * at),
            Line(0, f"link '{sender}, {subject}, 8 June'", 3 * at + 1),
            Line(0, f"button 'Star {subject}'", 3 * at + 2),
        ]

    mails = [line for n in range(40) for line in row(n, "Maya", f"Notes of meeting {n}")]
    tree = [*mails, *row(50, "Courier Weekly", "Timber towers and courtyards")]

    retained = {line.backend_id for line in compact(tree, "Archive the issue of Courier Weekly.")}

    assert {150, 151, 152} <= retained


def test_a_text_that_is_cut_ends_with_the_quote_that_it_began_with() -> None:
    (retained,) = compact([Line(0, f'heading "It\'s {"x" * 200}"', 1)], "")

    assert retained.text.startswith("heading \"It's x")
    assert retained.text.endswith('x…"')


def test_what_is_true_of_an_element_is_shown() -> None:
    (retained,) = compact([Line(2, "textbox 'To'", 1, "value='Ines', focused")], "")

    assert retained == Line(0, "textbox 'To'", 1, "value='Ines', focused")
