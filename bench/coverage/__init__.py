"""Simulations of what a report says, against truths that are known."""
