"""What comes late."""
