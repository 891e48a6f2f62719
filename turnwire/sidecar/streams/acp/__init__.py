"""`turnwire acp`: the agent that editors start."""
