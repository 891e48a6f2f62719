"""What the frontends that are served over HTTP share: which requests they serve, the server itself, payloads as text."""
