"""WebSockets of a trial: what their messages carry, and the faults of single messages."""
