"""What this package adds to WAREX: a file for each kind, named in pyproject.toml."""
