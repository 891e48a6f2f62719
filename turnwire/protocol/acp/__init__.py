"""The Agent Client Protocol, version 1, and as much of version 2 as agents have been seen to speak.

JSON-RPC 2.0 lines, read by structs of our own: the official package's models validate every field, cost eight times as
much a line, and refuse a whole line for one odd field. Tests hold ours against them (tests/protocol/acp).
"""
