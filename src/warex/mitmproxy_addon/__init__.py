"""WAREX as an add-on of stock mitmproxy: its hooks ask the same handler as WAREX's own engine.

Nothing else imports mitmproxy, which is in the extra ``warex[mitmproxy]``.
"""
