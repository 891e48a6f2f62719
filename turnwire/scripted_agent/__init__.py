"""A stand-in CLI. It speaks the stream-json protocol from a script or a recording, and announces that it is scripted."""
