"""Many mixed requests through one lane, and whether its ledger adds up afterwards."""
