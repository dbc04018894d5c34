"""Shows figures: in the terminal and as one HTML file."""
