"""The hub's port: access control, plain HTTP, WebSockets and server-sent events."""
