"""The scripted agent as one that speaks ACP, the Agent Client Protocol (JSON-RPC 2.0 on lines, protocol version 1).

Written after the published schema and apart from turnwire's own reading of ACP, so that each can show the other wrong.
"""
