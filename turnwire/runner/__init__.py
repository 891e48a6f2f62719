"""The multiplexed NDJSON runner in ObjectiveAI's protocol: many runs over one stdin, stdout and stderr, server and client."""
