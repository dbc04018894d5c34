"""Does a ranker learn to recover by reinforcement learning on the testbed behind the proxy?"""
