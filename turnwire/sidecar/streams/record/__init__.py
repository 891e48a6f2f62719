"""`turnwire record`: pass an agent's own streams on and save them."""
