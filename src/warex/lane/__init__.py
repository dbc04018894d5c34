"""The logic of a trial: decides for each connection and exchange, and keeps the ledger."""
