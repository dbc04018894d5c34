"""What a row says in the agent's words: its answer, and its earlier answers in the prompt."""
