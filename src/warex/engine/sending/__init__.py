"""How a body is sent that does not leave as fast as its client takes it."""
