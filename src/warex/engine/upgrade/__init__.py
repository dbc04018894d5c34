"""What follows a 101: both directions of an upgraded connection, and a WebSocket's frames."""
