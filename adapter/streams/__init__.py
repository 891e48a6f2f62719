"""Agents that write JSON of their own and take prompts as JSON, one object a line: run by what their family says to them."""
