"""Send many mixed requests through one lane and check that its ledger adds up."""
