"""Conversation files that ACP agents keep themselves: see agents.py.

Each agent's module turns its records into steps (steps.py). files.py turns steps into lines of the protocol, so that the
same core reads files and live agents.
"""
