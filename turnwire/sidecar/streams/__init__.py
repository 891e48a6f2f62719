"""The commands that speak over this process's own stdin and stdout."""
