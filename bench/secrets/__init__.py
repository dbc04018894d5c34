"""How many of planted secrets does a trace hold, and how much of what is none does it lose?"""
