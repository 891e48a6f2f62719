"""A sidecar that serves: a session, or whatever frontends begin."""
