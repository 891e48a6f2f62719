"""The conversations on this machine that agents keep themselves: an index of them, search, usage, export."""
