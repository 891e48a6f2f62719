"""turnwire as an agent of AG-UI: runs over HTTP, events as server-sent events; for CopilotKit and its like."""
