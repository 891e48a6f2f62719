"""The hub's one port: who may come in, plain HTTP, WebSockets and server-sent events."""
