import datetime as dt
from dataclasses import replace

import pytest

from warex_testbed.sites.mail.model import Contact, Draft, Mailbox, Message, Person, Rule

ME, ANA = Person("Me", "me@here.test"), Person("Ana", "ana@there.test")


@pytest.fixture
def box() -> Mailbox:
    first = Message(
        1, 1, ANA, (ME,), "Hello", "Body", dt.datetime.fromisoformat("2026-06-01T09:00")
    )
    second = replace(first, id=2, at=dt.datetime.fromisoformat("2026-06-02T09:00"), read=False)
    other = replace(first, id=3, thread=3, subject="Invoice", labels=("Money",))
    return Mailbox(ME, {each.id: each for each in (second, first, other)}, labels={1: "Money"})


def test_a_conversation_is_shown_oldest_first(box: Mailbox) -> None:
    assert [message.id for message in box.thread(1)] == [1, 2]
    with pytest.raises(KeyError):
        box.thread(9)


def test_an_answer_joins_the_conversation_and_a_letter_begins_one(box: Mailbox) -> None:
    letter = Message(0, 0, ME, (ANA,), "Re: Hello", "Hi")
    assert box.send(replace(letter, reply_to=2)).thread == 1
    sent = box.send(letter)
    assert (sent.id, sent.thread, sent.folder) == (5, 5, "sent")


def test_what_is_sent_twice_is_there_twice(box: Mailbox) -> None:
    letter = Message(0, 0, ME, (ANA,), "S", "B")
    box.send(letter)
    box.send(letter)
    assert len(box.as_json()["sent"]) == 2


def test_deleting_from_the_bin_is_final(box: Mailbox) -> None:
    box.move(box.thread(3), "bin")
    assert [message.id for message in box.within("bin")] == [3]
    box.move(box.thread(3), "bin")
    assert 3 not in box.messages


def test_emptying_a_folder_leaves_the_others(box: Mailbox) -> None:
    box.move(box.thread(3), "spam")
    assert box.empty("spam") == 1
    assert sorted(box.messages) == [1, 2]


def test_a_label_renamed_or_removed_is_so_everywhere(box: Mailbox) -> None:
    box.add_rule(Rule(0, "from", "ana", "label", "Money"))
    box.rename_label(1, "Cash")
    assert list(box.messages[3].labels) == ["Cash"]
    assert box.rules[1].target == "Cash"
    box.remove_label(1)
    assert not box.messages[3].labels


def test_a_label_is_added_once(box: Mailbox) -> None:
    box.tag(box.thread(3), "Money")
    assert box.messages[3].labels == ("Money",)


@pytest.mark.parametrize(
    ("rule", "field", "value"),
    [
        (Rule(0, "from", "ANA@", "star"), "starred", True),
        (Rule(0, "subject", "hell", "archive"), "folder", "archive"),
        (Rule(0, "to", "me@here", "move", "taxes"), "folder", "taxes"),
        (Rule(0, "words", "body", "delete"), "folder", "bin"),
        (Rule(0, "words", "hello", "read"), "read", True),
        (Rule(0, "from", "ana", "label", "Money"), "labels", ("Money",)),
    ],
)
def test_a_rule_does_to_the_inbox_what_it_says(
    box: Mailbox, rule: Rule, field: str, value: object
) -> None:
    assert box.apply(rule) >= 2
    assert getattr(box.messages[2], field) == value


def test_a_rule_leaves_alone_what_it_does_not_meet(box: Mailbox) -> None:
    assert box.apply(Rule(0, "subject", "invoice", "delete")) == 1
    assert len(box.within("inbox")) == 2


def test_a_thing_without_a_number_is_new_and_one_with_it_is_changed(box: Mailbox) -> None:
    assert box.keep_draft(Draft(0, subject="A")).id == 1
    assert box.keep_draft(Draft(1, subject="B")).id == 1
    assert [draft.subject for draft in box.drafts.values()] == ["B"]
    assert box.keep_contact(Contact(0, "Ana", "ana@there.test")).id == 1
    assert box.contact_of("ANA@there.test") is not None
