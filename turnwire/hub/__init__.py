"""The WebSocket hub: frontends in, commands out, events to everyone by cursor."""
