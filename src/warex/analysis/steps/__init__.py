"""What an agent did, step by step, and where two trials diverge."""
