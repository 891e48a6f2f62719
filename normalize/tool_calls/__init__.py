"""Tool calls told in the Agent Client Protocol's updates: ACP agents write these, normalize/streams makes them."""
