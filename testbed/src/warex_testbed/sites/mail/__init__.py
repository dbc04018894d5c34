"""Web mail: folders, conversations, letters, labels, search, contacts, rules, settings."""

from warex_testbed.sites.mail.site import MailSite, make

__all__ = ["MailSite", "make"]
