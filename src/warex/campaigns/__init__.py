"""Many trials: the grid of agents, tasks, conditions and repeats, under one frozen config."""
