"""The AI SDK's UI message stream, which `useChat` speaks, out of a hub: an encoder, and an ASGI application around it."""
