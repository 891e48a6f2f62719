"""turnwire as an agent of the Agent Client Protocol: what editors start, or connect to."""
