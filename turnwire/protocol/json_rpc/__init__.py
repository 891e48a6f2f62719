"""The wire of the JSON-RPC family: Claude's messages, each in an envelope."""
