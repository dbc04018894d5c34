"""The three failures of the WAREX paper (§3.2, §3.3)."""
