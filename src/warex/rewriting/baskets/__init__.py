"""A shop's prices and basket, as a page shows them and as data holds them."""

import re
from typing import Final

from warex.text.lazy_pattern import lazy_re

PAGE_BASKET: Final = f"{__name__}.page_basket"
"""The name of a helper, with which a script reads and changes a page's basket."""
OF_BASKETS: Final = lazy_re(
    r"cart|basket|bag|checkout|order|warenkorb|panier|carrito|graphql|trolley", re.IGNORECASE
)
"""Paths of requests for a basket's data."""
