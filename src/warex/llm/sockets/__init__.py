"""The APIs of models over a WebSocket: which messages ask, which answer, and where each ends."""
