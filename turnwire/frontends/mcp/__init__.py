"""A server of the Model Context Protocol in front of a hub: an assistant, or an agent, leads other agents."""
