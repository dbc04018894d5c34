"""Reads what a visitor typed: addresses, cards, reviews. What is wrong comes back in sentences."""

import re
from collections.abc import Mapping

from warex_testbed.sites.shop.brand import Brand
from warex_testbed.sites.shop.model import OWNER, TODAY, Address, Review

_PHONE = re.compile(r"\+?[\d ()/-]{7,20}")
_EXPIRY = re.compile(r"(0[1-9]|1[0-2])\s*/\s*(\d{2})")
_LONGEST = 120
_LONGEST_TEXT = 2000


class Problems(Exception):
    """What is wrong with a form: a sentence for each field."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        super().__init__(" ".join(sentences.values()))
        self.sentences = sentences


def read_address(fields: Mapping[str, str], brand: Brand) -> Address:
    """Read an address; the postcode must be of the brand's country. Raises Problems."""
    texts = {key: fields.get(key, "").strip() for key in Address.__dataclass_fields__}
    problems = {
        key: f"Please enter {what}."
        for key, what in (("name", "a name"), ("street", "a street"), ("city", "a town or city"))
        if not texts[key]
    }
    texts["postcode"] = texts["postcode"].upper()
    if not re.fullmatch(brand.postcode, texts["postcode"]):
        label = brand.words["postcode"].lower()
        problems["postcode"] = f"Enter a {label} like {brand.postcode_example}."
    if texts["phone"] and not _PHONE.fullmatch(texts["phone"]):
        problems["phone"] = "Enter a phone number like +1 555 0134."
    for key, text in texts.items():
        if len(text) > _LONGEST:
            problems[key] = f"At most {_LONGEST} characters fit here."
    if problems:
        raise Problems(problems)
    return Address(**texts)


def read_delivery(fields: Mapping[str, str], brand: Brand) -> str:
    """Read the name of a delivery. Raises Problems."""
    name = fields.get("delivery", "")
    if brand.delivery(name) is None:
        raise Problems({"delivery": "Choose a delivery."})
    return name


def read_payment(fields: Mapping[str, str], brand: Brand) -> str:
    """Read a way to pay; of a card only the last four digits are kept. Raises Problems."""
    payment = brand.payment(fields.get("payment", ""))
    if payment is None:
        raise Problems({"payment": "Choose how you want to pay."})
    if not payment.card:
        return payment.name
    digits = re.sub(r"[ -]", "", fields.get("card_number", ""))
    expiry = _EXPIRY.fullmatch(fields.get("card_expiry", "").strip())
    problems = {}
    if not re.fullmatch(r"\d{16}", digits):
        problems["card_number"] = "Enter the 16 digits of the card."
    if expiry is None:
        problems["card_expiry"] = "Enter the month and the year as MM/YY."
    elif (2000 + int(expiry[2]), int(expiry[1])) < (TODAY.year, TODAY.month):
        problems["card_expiry"] = "This card has expired."
    if not re.fullmatch(r"\d{3,4}", fields.get("card_code", "").strip()):
        problems["card_code"] = "Enter the 3 or 4 digits of the security code."
    if problems:
        raise Problems(problems)
    return f"{payment.name} ending in {digits[-4:]}"


def read_review(fields: Mapping[str, str]) -> Review:
    """Read a review, written today. Raises Problems."""
    stars, title, text = (fields.get(key, "").strip() for key in ("stars", "title", "text"))
    problems = {}
    if stars not in ("1", "2", "3", "4", "5"):
        problems["stars"] = "Choose from one to five stars."
    if not title or len(title) > _LONGEST:
        problems["title"] = f"Give your review a title of at most {_LONGEST} characters."
    if not text or len(text) > _LONGEST_TEXT:
        problems["text"] = f"Write a few words, at most {_LONGEST_TEXT} characters."
    if problems:
        raise Problems(problems)
    return Review(OWNER, int(stars), title, text, TODAY)


def read_question(fields: Mapping[str, str]) -> str:
    """Read a question about a product. Raises Problems."""
    text = fields.get("text", "").strip()
    if not text or len(text) > _LONGEST_TEXT:
        raise Problems({"text": f"Write your question, at most {_LONGEST_TEXT} characters."})
    return text


def read_quantity(fields: Mapping[str, object]) -> int:
    """Read a quantity; what is not a whole number is -1, which no shop sells."""
    text = str(fields.get("quantity", "1")).strip()
    return int(text) if re.fullmatch(r"\d{1,4}", text) else -1
