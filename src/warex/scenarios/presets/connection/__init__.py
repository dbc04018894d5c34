"""Sites that cannot be reached: no name, no connection, no trust."""
