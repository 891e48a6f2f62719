"""The commands that look whether all is well, here and with others' frontends and agents."""
