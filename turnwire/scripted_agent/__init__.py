"""A stand-in CLI: speaks the stream-json protocol from a script or from a recording, and says that it is scripted."""
