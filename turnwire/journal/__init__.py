"""The append-only event log of each session. Only the journal assigns `seq`."""
