from warex_testbed.sites.forum.model import Person, Problems


def test_a_face_has_always_the_same_colour() -> None:
    assert Person(1, "rue", "May 2026").hue == Person(7, "rue", "June 2026").hue < 360


def test_problems_read_as_sentences() -> None:
    assert str(Problems({"a": "One.", "b": "Two."})) == "One. Two."
