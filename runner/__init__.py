"""The multiplexed NDJSON runner: many runs of agents over one pair of pipes."""
