"""Serve one session, or the sessions that frontends start."""
