"""`turnwire stdio`: the sidecar as one agent on this process's own stdin and stdout."""
