"""The world that changes under the agent."""
