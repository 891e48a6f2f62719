"""Frontends that speak protocols of others: for each a pure encoder of events, and a thin shell on the client library."""
