"""Sites that look different and work as before."""
