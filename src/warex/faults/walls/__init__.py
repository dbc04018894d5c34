"""Faults that replace a site's pages or end its state."""
