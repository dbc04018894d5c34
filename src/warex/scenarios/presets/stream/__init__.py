"""Messages of open channels that come late, changed or not at all."""
