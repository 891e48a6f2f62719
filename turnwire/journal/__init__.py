"""The append-only event log of each session; it alone assigns `seq`."""
