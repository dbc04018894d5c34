"""Pages that work against whoever uses them."""
