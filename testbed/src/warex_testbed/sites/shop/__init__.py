"""A shop: departments, search, products with variants, cart, checkout, orders, wish list."""

from warex_testbed.sites.shop.seed import brand, fresh
from warex_testbed.sites.shop.site import ShopSite

__all__ = ["ShopSite", "make"]


def make(host: str) -> ShopSite:
    """Return a fresh shop of the brand that the host stands for."""
    return ShopSite(brand(host), fresh(host))
