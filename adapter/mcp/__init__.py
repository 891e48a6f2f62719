"""MCP servers that a session hosts: Python functions and stdio commands, reached through the control protocol."""
