import pytest

from tests.sites.mail.client import HOSTS
from warex_testbed.sites.mail import forms
from warex_testbed.sites.mail.model import Mailbox, Person, Rule, Settings
from warex_testbed.sites.mail.seed import fresh

LETTER = {"to": "priya@halden.test", "subject": "S", "body": "B"}


@pytest.fixture
def box() -> Mailbox:
    return fresh(HOSTS[0])


def wrong(box: Mailbox, **fields: str) -> set[str]:
    with pytest.raises(forms.Problems) as caught:
        forms.read_letter(LETTER | fields, box)
    return set(caught.value.sentences)


def test_people_are_addresses_named_addresses_or_contacts(box: Mailbox) -> None:
    assert forms.read_people("A@b.test, Bo <bo@c.test>; ivo marin, a@b.test", box) == (
        Person("", "a@b.test"),
        Person("Bo", "bo@c.test"),
        Person("Ivo Marin", "ivo@marinlight.test"),
    )


def test_somebody_unknown_is_named(box: Mailbox) -> None:
    with pytest.raises(ValueError, match="nobody in particular"):
        forms.read_people("ana@b.test, nobody in particular", box)


def test_a_letter_is_read_with_its_signature_and_file(box: Mailbox) -> None:
    letter = forms.read_letter(LETTER | {"attachment": "model-photos.zip", "reply_to": "4"}, box)
    assert letter.to == (Person("Priya Nair", "priya@halden.test"),)
    assert letter.signature.startswith("Nora Lindqvist")
    assert [file.name for file in letter.attachments] == ["model-photos.zip"]
    assert letter.reply_to == 4


def test_a_forwarded_letter_takes_the_files_along(box: Mailbox) -> None:
    letter = forms.read_letter(LETTER | {"forwards": "5"}, box)
    assert [file.name for file in letter.attachments] == ["bracket-loads-r1.pdf"]


def test_each_wrong_field_is_named(box: Mailbox) -> None:
    assert wrong(box, to="") == {"to"}
    assert wrong(box, to="x", cc="y", body="b" * 8001) == {"to", "cc", "body"}


def test_a_letter_without_a_subject_needs_a_second_word(box: Mailbox) -> None:
    assert wrong(box, subject=" ") == {"no_subject"}
    assert forms.read_letter(LETTER | {"subject": "", "no_subject": "yes"}, box).subject == ""


def test_a_draft_may_be_anything(box: Mailbox) -> None:
    draft = forms.read_draft({"to": "x", "draft": "7", "reply_to": "none"})
    assert (draft.id, draft.to, draft.reply_to) == (7, "x", None)


def test_a_contact_needs_a_name_and_an_address_of_its_own(box: Mailbox) -> None:
    contact = forms.read_contact({"name": "Bo", "email": "BO@c.test", "phone": "1"}, box)
    assert (contact.email, contact.phone) == ("bo@c.test", "1")
    for fields in ({"email": "bo@c.test"}, {"name": "Bo", "email": "bo"}):
        with pytest.raises(forms.Problems):
            forms.read_contact(fields, box)
    taken = {"name": "P", "email": "priya@halden.test"}
    with pytest.raises(forms.Problems, match="Priya Nair has this address already"):
        forms.read_contact(taken, box)
    assert forms.read_contact(taken, box, number=1).name == "P"


def test_a_label_needs_a_name_that_is_free(box: Mailbox) -> None:
    assert forms.read_label("  Site   photos ", box) == "Site photos"
    assert forms.read_label("projects", box, number=1) == "projects"
    for name in ("", "x" * 41, "PROJECTS"):
        with pytest.raises(forms.Problems):
            forms.read_label(name, box)


def test_a_rule_is_read_with_the_target_that_its_deed_needs(box: Mailbox) -> None:
    fields = {"field": "subject", "contains": "x", "label": "Permits", "folder": "receipts"}
    assert forms.read_rule(fields | {"deed": "label"}, box) == Rule(
        0, "subject", "x", "label", "Permits"
    )
    assert forms.read_rule(fields | {"deed": "move"}, box).target == "receipts"
    assert forms.read_rule(fields | {"deed": "star"}, box).target == ""


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"contains": ""}, "contains"),
        ({"field": "colour"}, "field"),
        ({"deed": "burn"}, "deed"),
        ({"deed": "label", "label": "None"}, "label"),
        ({"deed": "move", "folder": "attic"}, "folder"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(box: Mailbox, fields: dict[str, str], field: str) -> None:
    with pytest.raises(forms.Problems) as caught:
        forms.read_rule({"contains": "x"} | fields, box)
    assert set(caught.value.sentences) == {field}


def test_settings_keep_what_is_not_known() -> None:
    before = Settings(density="compact")
    assert forms.read_settings({"signature": " N "}, before).signature == "N"
    assert forms.read_settings({}, before).density == "compact"
    assert forms.read_settings({"density": "comfortable"}, before).density == "comfortable"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"body": ""}, "body"),
        ({"first": ""}, "first"),
        ({"first": "July"}, "first"),
        ({"last": "2026-07-01"}, "last"),
    ],
)
def test_an_answer_while_away_that_cannot_be_is_refused(fields: dict[str, str], field: str) -> None:
    right = {"on": "yes", "first": "2026-07-06", "last": "2026-07-17", "body": "Away."}
    assert forms.read_vacation(right).on
    with pytest.raises(forms.Problems) as caught:
        forms.read_vacation(right | fields)
    assert set(caught.value.sentences) == {field}
