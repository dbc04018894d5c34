"""Campaigns: the grid of agents, tasks, conditions and repeats under one frozen configuration."""
