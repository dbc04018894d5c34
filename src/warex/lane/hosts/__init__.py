"""Which hosts are of WAREX itself, and where those of sites are."""
