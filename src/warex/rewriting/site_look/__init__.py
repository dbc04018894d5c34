"""How a site looks, read from its own pages and styles."""
