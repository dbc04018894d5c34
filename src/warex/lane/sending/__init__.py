"""How faults have the body of an answer sent."""
