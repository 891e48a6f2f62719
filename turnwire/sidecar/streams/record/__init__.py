"""`turnwire record`: an agent's own streams, passed on and kept."""
