"""The multiplexed NDJSON runner of spec 4: many runs over one stdin, stdout and stderr, server and client."""
