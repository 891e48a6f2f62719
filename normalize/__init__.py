"""Messages in, events out: pure, deterministic, without I/O, clock or randomness."""
