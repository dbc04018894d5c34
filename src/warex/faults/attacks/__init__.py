"""Pages that work against their users."""
