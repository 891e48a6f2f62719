"""The files that agents of the Agent Client Protocol keep of their conversations themselves: see agents.py.

Each agent's own file says how its records become steps (steps.py); these become lines of the protocol (files.py), so that the
same core reads both.
"""
