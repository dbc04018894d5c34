"""What does not come."""
