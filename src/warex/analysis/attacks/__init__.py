"""What became of attacks on the agent."""
