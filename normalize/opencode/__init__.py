"""OpenCode's own wires: `opencode run --format json` and the events of `opencode serve`."""
