"""The scripted agent over ACP, the Agent Client Protocol (JSON-RPC 2.0 on lines, protocol version 1).

This code follows the published schema and shares nothing with turnwire's own reader of ACP. So each can reveal errors of the
other.
"""
