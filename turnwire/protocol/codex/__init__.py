"""What is said to `codex app-server`: JSON-RPC without the member `jsonrpc`."""
