"""The lines between a coding-agent CLI and its host, byte for byte.

Pure functions and values: chunks of bytes become lines (`framing`), lines become typed messages (`decode`), and
messages become lines again (`encode`). Nothing here reads, writes, waits or knows the time.
"""
