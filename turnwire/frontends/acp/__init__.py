"""turnwire as an agent of the Agent Client Protocol (version 1): what editors start, or connect to."""
