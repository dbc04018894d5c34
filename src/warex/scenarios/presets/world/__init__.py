"""The world that changes under an agent: sites, sessions and browsers, not lines."""
