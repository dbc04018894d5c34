"""Programs run by path in a benchmark's own Python; WAREX does not import them."""
