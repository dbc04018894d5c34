"""Which hosts WAREX answers itself, and where requests for sites go."""
