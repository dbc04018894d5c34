"""Buttons, links and labels have other words of the same meaning."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import JsonValue

from warex.faults.variation.base import VariationFault
from warex.seeds import KeyedRng

INTERFACE: Final = (
    "a[href],button,label,legend,summary,"
    "[role=button],[role=link],[role=menuitem],[role=tab],[role=option]"
)
"""Selects the interface, not the site's content."""

SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    "about": ("What we do", "Our story"),
    "about us": ("About the company", "Who we are"),
    "account": ("Profile settings", "Your details"),
    "add": ("Insert", "New entry"),
    "add to cart": ("Put in basket", "Add to bag"),
    "apply": ("Put into effect", "Use these"),
    "back": ("Go back", "Previous page"),
    "browse": ("Look around", "See everything"),
    "buy": ("Purchase", "Get it"),
    "buy now": ("Purchase now", "Order at once"),
    "cancel": ("Never mind", "Discard changes"),
    "cart": ("Basket", "Shopping bag"),
    "categories": ("Departments", "Sections"),
    "category": ("Department", "Section"),
    "change": ("Alter", "Switch"),
    "checkout": ("Proceed to payment", "Place your order"),
    "clear": ("Wipe", "Start over"),
    "close": ("Hide this", "Dismiss"),
    "comment": ("Leave a remark", "Add your thoughts"),
    "comments": ("Remarks", "Discussion"),
    "compose": ("Write a message", "New message"),
    "confirm": ("Yes, go on", "Approve"),
    "contact": ("Get in touch", "Write to us"),
    "contact us": ("Get in touch with us", "Talk to us"),
    "continue": ("Go on", "Proceed"),
    "create": ("Make new", "Start new"),
    "create account": ("Join now", "Open an account"),
    "dashboard": ("Overview", "Control centre"),
    "date": ("Day", "When"),
    "delete": ("Erase", "Throw away"),
    "description": ("Details", "In a few words"),
    "done": ("Finished", "That is all"),
    "download": ("Get the file", "Save a copy"),
    "edit": ("Modify", "Make changes"),
    "email": ("E-mail address", "Mail address"),
    "event": ("Appointment", "Calendar entry"),
    "export": ("Save to a file", "Take out"),
    "filter": ("Narrow down", "Refine"),
    "first name": ("Given name", "Forename"),
    "forgot password?": ("Cannot sign in?", "Lost your password?"),
    "help": ("Support", "Questions and answers"),
    "home": ("Start", "Main page"),
    "import": ("Bring in", "Load from a file"),
    "last name": ("Surname", "Family name"),
    "log in": ("Enter", "Access your account"),
    "log out": ("Leave", "End session"),
    "login": ("Enter", "Access your account"),
    "logout": ("Leave", "End session"),
    "menu": ("Navigation", "All pages"),
    "message": ("Your words", "Text"),
    "messages": ("Conversations", "Mailbox"),
    "my account": ("Your profile", "Your area"),
    "name": ("Full name", "Called"),
    "new": ("Create another", "Add one"),
    "new event": ("Add appointment", "Plan something"),
    "next": ("Onwards", "Following"),
    "notifications": ("Alerts", "News for you"),
    "open": ("Show it", "Take a look"),
    "order": ("Place order", "Request"),
    "orders": ("Purchases", "What you bought"),
    "password": ("Secret word", "Passphrase"),
    "phone": ("Telephone number", "Call us on"),
    "preferences": ("Your choices", "Customise"),
    "previous": ("Preceding", "One before"),
    "price": ("Cost", "Amount"),
    "products": ("Goods", "Items on sale"),
    "profile": ("Personal page", "About you"),
    "publish": ("Make public", "Release"),
    "quantity": ("How many", "Number of items"),
    "register": ("Become a member", "Enrol"),
    "remove": ("Take out of list", "Drop"),
    "reply": ("Respond", "Answer"),
    "reset": ("Undo all", "As it was"),
    "reviews": ("Opinions", "What people say"),
    "save": ("Keep", "Store changes"),
    "save changes": ("Keep changes", "Update now"),
    "search": ("Find", "Look up"),
    "select": ("Choose", "Pick"),
    "send": ("Dispatch", "Deliver"),
    "settings": ("Options", "Configuration"),
    "share": ("Pass on", "Tell others"),
    "shop": ("Store", "Catalogue"),
    "show more": ("Expand list", "See further"),
    "sign in": ("Enter", "Access your account"),
    "sign out": ("Leave", "End session"),
    "sign up": ("Become a member", "Join now"),
    "sort": ("Arrange", "Put in order"),
    "sort by": ("Arrange by", "Order by"),
    "submit": ("Send off", "Hand in"),
    "subscribe": ("Follow", "Get updates"),
    "title": ("Headline", "Subject"),
    "update": ("Bring up to date", "Renew"),
    "upload": ("Add a file", "Send a file"),
    "user name": ("Account name", "Member name"),
    "username": ("Account name", "Member name"),
    "view": ("Inspect", "Take a closer look"),
    "view all": ("See the whole list", "Everything"),
}
"""Labels, each with its synonyms; a synonym never stands for two different things."""

VERBS: Final[Mapping[str, tuple[str, ...]]] = {
    "add": ("Insert", "Include"),
    "browse": ("Explore", "Look through"),
    "change": ("Alter", "Switch"),
    "choose": ("Pick", "Decide on"),
    "create": ("Make", "Set up"),
    "delete": ("Erase", "Throw away"),
    "edit": ("Modify", "Rework"),
    "manage": ("Administer", "Look after"),
    "search": ("Find", "Look up"),
    "send": ("Dispatch", "Deliver"),
    "view": ("Inspect", "Look at"),
}
"""Synonyms of a label's first word, if the label is unknown: "Edit order" to "Modify order"."""


class Relabel(VariationFault, frozen=True):
    """Replace a share of the usual labels, alike on each page."""

    summary: ClassVar = "Reword buttons, links and labels."
    helpers: ClassVar = ("watching", "joint_texts", "wording")
    meets: ClassVar = "has other words on some of its buttons, links and labels"

    kind: Literal["relabel"] = "relabel"

    def settings(self, rng: KeyedRng) -> Mapping[str, JsonValue]:
        """Choose the labels to change, and their synonyms."""
        return {
            "where": INTERFACE,
            "words": self._chosen(SYNONYMS, rng, "word"),
            "verbs": self._chosen(VERBS, rng, "verb"),
        }

    def _chosen(
        self, table: Mapping[str, tuple[str, ...]], rng: KeyedRng, of: str
    ) -> dict[str, JsonValue]:
        return {
            label: rng.choice(others, of, "as", label)
            for label, others in table.items()
            if rng.draw(of, label) < self.strength
        }
