"""Running agents that speak the Agent Client Protocol: JSON-RPC 2.0 over their standard streams, turnwire being the client."""
